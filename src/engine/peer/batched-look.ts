/** A question that has no answer yet. */
interface Waiting<Question, Answer> {
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Answers questions together: one look answers all that wait when it begins. What is asked during a look waits for the
 * next one, so no answer is older than its question.
 */
export class BatchedLook<Question, Answer> {
  readonly #look: (questions: readonly Question[]) => Promise<readonly Answer[]>;
  #waiting: Waiting<Question, Answer>[] = [];
  #isLooking = false;

  /** @param look gives one answer for each question, in their order; runs once at a time */
  constructor(look: (questions: readonly Question[]) => Promise<readonly Answer[]>) {
    this.#look = look;
  }

  /** Answers a question; rejects with what the look is rejected with. */
  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject });
      if (!this.#isLooking) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isLooking = true;
    while (this.#waiting.length > 0) {
      const asked = this.#waiting;
      this.#waiting = [];
      await this.#answer(asked);
    }
    this.#isLooking = false;
  }

  async #answer(asked: readonly Waiting<Question, Answer>[]): Promise<void> {
    try {
      const answers = await this.#look(asked.map(({ question }) => question));
      for (const [index, { resolve }] of asked.entries()) resolve(answers[index] as Answer);
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }
}
