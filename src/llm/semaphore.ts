import { llmError } from '../core/llm/failure.js';

/** How many may pass at a time, and how many may wait. */
export interface SemaphoreLimits {
  readonly concurrency: number;
  readonly queueLimit: number;
}

/** Lets so many runs of one tool through at a time: each takes hundreds of megabytes. The others wait in line. */
export class Semaphore {
  readonly #name: string;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  /** @param name of the tool, for messages */
  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Waits for its turn; gives what ends it.
   * @throws AdapterError LLM_RATE_LIMITED when too many wait; the signal's reason
   */
  async acquire({ concurrency, queueLimit }: SemaphoreLimits, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#inside < concurrency) this.#inside += 1;
    else if (this.#waiting.length >= queueLimit) throw this.#refusal(queueLimit);
    else await this.#wait(signal);
    let hasLeft = false;
    return () => {
      if (!hasLeft) this.#leave();
      hasLeft = true;
    };
  }

  /** Whoever is first in line takes the place. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#inside -= 1;
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.push(enter);
    });
  }

  #refusal(queueLimit: number): Error {
    return llmError('rate_limited', `${queueLimit} calls wait for ${this.#name} already (llm.queue_limit)`, {
      shell_provider: this.#name,
      queue_limit: queueLimit,
    });
  }
}
