import { llmError } from '../core/llm/failure.js';

/** Capacity of a semaphore and of its queue. */
export interface SemaphoreLimits {
  readonly concurrency: number;
  readonly queueLimit: number;
}

/** Limits the concurrent runs of one tool: each takes hundreds of megabytes. The others wait in a FIFO queue. */
export class Semaphore {
  readonly #name: string;
  readonly #waiting: (() => void)[] = [];
  #acquired = 0;

  /** @param name of the tool, for messages */
  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Acquires a slot; returns the function that releases it.
   * @throws AdapterError LLM_RATE_LIMITED when the queue is full; the signal's reason
   */
  async acquire({ concurrency, queueLimit }: SemaphoreLimits, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#acquired < concurrency) this.#acquired += 1;
    else if (this.#waiting.length >= queueLimit) throw this.#refusal(queueLimit);
    else await this.#wait(signal);
    let isReleased = false;
    return () => {
      if (!isReleased) this.#release();
      isReleased = true;
    };
  }

  /** The first waiter gets the slot. */
  #release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#acquired -= 1;
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const grant = () => {
        signal.removeEventListener('abort', cancel);
        resolve();
      };
      const cancel = () => {
        this.#waiting.splice(this.#waiting.indexOf(grant), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', cancel, { once: true });
      this.#waiting.push(grant);
    });
  }

  #refusal(queueLimit: number): Error {
    return llmError('rate_limited', `${queueLimit} calls wait for ${this.#name} already (llm.queue_limit)`, {
      shell_provider: this.#name,
      queue_limit: queueLimit,
    });
  }
}
