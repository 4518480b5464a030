import type { FailureKind } from './failure.js';
import type { LlmUsage } from './usage.js';

/** Separates two messages of one answer when they are streamed one after the other. */
const MESSAGE_SEPARATOR = '\n\n';

/**
 * Assembles an answer from the output of a tool. All messages of the tool are streamed; the text is its final message.
 */
export class Answer {
  usage: LlmUsage | undefined;
  /** Id that the tool gave the conversation; the conversation can be resumed with it. */
  session: string | undefined;
  model: string | undefined;
  /**
   * Failure kind of the last event about an error that may still be overcome. It counts only if the tool then fails.
   */
  failureHint: FailureKind | undefined;
  #chunks: string[] = [];
  #message = '';
  #final: string | undefined;
  #failure: string | undefined;
  #failureKind: FailureKind | undefined;
  #hasStreamed = false;
  #isBetween = false;
  #isFinished = false;

  /** Whether the tool has reported completion. Some tools do not exit after that. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** Description of the failure that the tool reported. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Kind of the tool's structured error; undefined when the tool reports none. */
  get failureKind(): FailureKind | undefined {
    return this.#failure === undefined ? undefined : (this.#failureKind ?? this.failureHint);
  }

  /** Whether any text was streamed. */
  get hasStreamed(): boolean {
    return this.#hasStreamed;
  }

  /** The final text if the tool has given one; otherwise the message so far. */
  get text(): string {
    return this.#final ?? this.#message;
  }

  /** Appends the next part of the message. */
  delta(text: string): void {
    if (text === '') return;
    if (this.#isBetween) {
      this.#message = '';
      if (this.#hasStreamed) this.#chunks.push(MESSAGE_SEPARATOR);
    }
    this.#isBetween = false;
    this.#hasStreamed = true;
    this.#message += text;
    this.#chunks.push(text);
  }

  /** Starts a new message. */
  beginMessage(): void {
    this.#isBetween = true;
  }

  /** Adds a complete message. */
  message(text: string): void {
    this.beginMessage();
    this.delta(text);
  }

  /** Marks the tool as done; `text` is the final message, when the tool repeats it. */
  finish(text?: string): void {
    this.#isFinished = true;
    if (text !== undefined) this.settle(text);
  }

  /** Sets the final answer, and streams it if that has not happened yet. */
  settle(text: string): void {
    if (!this.#hasStreamed) this.delta(text);
    this.#final = text;
  }

  /** Sets the answer that is valid if the run succeeds; until then it is not streamed. */
  propose(text: string): void {
    this.#final = text;
  }

  /**
   * Records a failure with its reason. The first reason counts.
   * @param kind meaning of the structured part of the error; undefined when it has none
   */
  fail(why: string, kind?: FailureKind): void {
    this.#isFinished = true;
    this.#failure ??= why;
    this.#failureKind ??= kind;
  }

  /** Returns the text to stream since the last call. */
  takeChunks(): string[] {
    return this.#chunks.splice(0);
  }
}
