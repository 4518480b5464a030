/**
 * Phases of a command, in order:
 * - accepted: it has an id, and is counted
 * - started: it has left the queue of its session, or its process is being started
 * - reported: its shell has reported the exit code, or its shell or process has ended
 * - settled: its output is read and its result is final
 * - published: everything that follows from the result is done
 */
export const PHASES = ['accepted', 'started', 'reported', 'settled', 'published'] as const;
/** The name of a phase. */
export type CommandPhase = (typeof PHASES)[number];

/**
 * Everything that happens when a command has settled, in this order. A request that waits for the command is answered
 * at `answer`. No caller waits for later steps: they run in the next turn of the event loop, before further requests.
 */
export const END_STEPS = [
  // Resource limits: the next command starts with new counts.
  'limits',
  // Output that is paused for a slow client goes on.
  'backpressure',
  // A streamed standard input closes, and a one-shot no longer counts against its quota.
  'release',
  // Followers of the session get `command_finished`.
  'event',
  'answer',
  'metrics',
  'audit',
  // The session's idle time starts, and its health is examined.
  'session',
  // A session whose time is up is closed.
  'deadline',
  // Output of background jobs is sent as events: no result contains it any more.
  'late_output',
  // Old results make room.
  'retention',
] as const;
/** The name of a step. */
export type EndStep = (typeof END_STEPS)[number];

const ANSWER = END_STEPS.indexOf('answer');

type EndHandler<Outcome> = (outcome: Outcome) => void;

/** The phase of one command, and what happens at its end. `Outcome` is the result of a command. */
export class CommandLifecycle<Outcome> {
  /** Resolves at the step `answer`; never rejects. */
  readonly finished: Promise<Outcome>;
  #phase = 0;
  /** By step. */
  readonly #handlers: (EndHandler<Outcome>[] | undefined)[] = [];
  #resolve!: (outcome: Outcome) => void;

  constructor() {
    this.finished = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** The current phase. */
  get phase(): CommandPhase {
    return PHASES[this.#phase] ?? 'published';
  }

  /** Whether the command has reached a phase, or a later one. */
  has(phase: CommandPhase): boolean {
    return this.#phase >= PHASES.indexOf(phase);
  }

  /** Enters a phase; one that was reached already is not entered again. */
  enter(phase: CommandPhase): void {
    this.#phase = Math.max(this.#phase, PHASES.indexOf(phase));
  }

  /**
   * Adds what happens at the end of the command; handlers of one step run in the order in which they were added.
   * @returns a function that takes it back
   */
  atEnd(step: EndStep, run: EndHandler<Outcome>): () => void {
    const index = END_STEPS.indexOf(step);
    const handlers = (this.#handlers[index] ??= []);
    handlers.push(run);
    return () => {
      const at = handlers.indexOf(run);
      if (at !== -1) handlers.splice(at, 1);
    };
  }

  /** Settles the command: runs the steps up to the answer, and the others in the next turn of the event loop. */
  settle(outcome: Outcome): void {
    this.enter('settled');
    this.#run(outcome, 0, ANSWER);
    this.#resolve(outcome);
    setImmediate(() => {
      this.#run(outcome, 0, END_STEPS.length);
      this.enter('published');
    });
  }

  #run(outcome: Outcome, from: number, to: number): void {
    for (let step = from; step < to; step += 1) {
      const handlers = this.#handlers[step];
      this.#handlers[step] = undefined;
      // A handler may take another one back.
      for (const run of [...(handlers ?? [])]) {
        try {
          run(outcome);
        } catch (error) {
          // The command is still answered. The daemon logs and counts the error as an uncaught one.
          setImmediate(() => {
            throw error;
          });
        }
      }
    }
  }
}
