/**
 * Log for the layers below the application. Every method returns at once and never throws: a log that cannot be written
 * must not fail a command. `facts` are appended to the record as `key=value`.
 */
export interface Log {
  /** Details for debugging. */
  debug(message: string, facts?: Record<string, unknown>): void;
  /** Events of normal operation that an operator reads. */
  info(message: string, facts?: Record<string, unknown>): void;
  /** Something was lost or degraded, and the adapter continued. */
  warn(message: string, facts?: Record<string, unknown>): void;
  /** A fault in the adapter or in one of its dependencies. */
  error(message: string, facts?: Record<string, unknown>): void;
}

export type LogFactory = (component: string) => Log;

/** What a `LastingProblem` says. */
interface ProblemTexts {
  readonly level: 'warn' | 'error';
  readonly begun: string;
  readonly over: string;
}

/**
 * Something that is tried again and again, and fails for a while, as without free descriptors: the log tells when that begins, for
 * which reason, and when it is over, in place of a line for each attempt.
 */
export class LastingProblem {
  readonly #log: Log;
  readonly #texts: ProblemTexts;
  #reason: string | undefined;
  #attempts = 0;

  constructor(log: Log, texts: ProblemTexts) {
    this.#log = log;
    this.#texts = texts;
  }

  /** Takes the failure of an attempt. Another reason than before is told too. */
  failed(error: unknown, facts: Record<string, unknown> = {}): void {
    const reason = String(error);
    this.#attempts += 1;
    if (reason === this.#reason) return;
    this.#reason = reason;
    this.#log[this.#texts.level](this.#texts.begun, { ...facts, error: reason });
  }

  /** Takes the success of an attempt. */
  succeeded(facts: Record<string, unknown> = {}): void {
    if (this.#reason === undefined) return;
    this.#log.info(this.#texts.over, { ...facts, failed_attempts: this.#attempts });
    this.#reason = undefined;
    this.#attempts = 0;
  }
}
