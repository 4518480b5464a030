import { setImmediate as nextTurn } from 'node:timers/promises';

/** A promise and the functions that settle it (Promise.withResolvers, which Node 20 lacks). */
export class Deferred<T> {
  readonly promise: Promise<T>;
  resolve!: (value: T | PromiseLike<T>) => void;
  reject!: (reason: unknown) => void;

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}

/** Background work that must be awaited at the end. */
export class PendingWork {
  readonly #promises = new Set<Promise<unknown>>();
  readonly #onError: (error: unknown) => void;

  /** @param onError takes the error of work that fails */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Work in progress; none of it rejects. */
  get all(): readonly Promise<unknown>[] {
    return [...this.#promises];
  }

  /** Adds work. */
  add(work: Promise<unknown>): void {
    const settled = work.catch(this.#onError);
    this.#promises.add(settled);
    void settled.then(() => this.#promises.delete(settled));
  }
}

/** Runs actions in the order in which they are asked for: by default one after the other. */
export class Turns {
  readonly #atOnce: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** @param atOnce most actions at the same time */
  constructor(atOnce = 1) {
    this.#atOnce = atOnce;
  }

  /** Runs an action when it is its turn; settles as it does. */
  async take<T>(act: () => Promise<T>): Promise<T> {
    if (this.#running < this.#atOnce) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await act();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}

/** Longest time that work in slices blocks the event loop, in milliseconds. */
const SLICE_MS = 4;

/** Splits long work into slices, so that other work of the process is not delayed. */
export class Slices {
  #since = performance.now();
  #usedMs = 0;

  /** Whether the slice is used up, and `next` is due. */
  get isOver(): boolean {
    return performance.now() - this.#since > SLICE_MS;
  }

  /** Time of the work so far without its pauses, in milliseconds. */
  get usedMs(): number {
    return this.#usedMs + performance.now() - this.#since;
  }

  /** Yields to the event loop. */
  async next(): Promise<void> {
    this.#usedMs = this.usedMs;
    await nextTurn();
    this.#since = performance.now();
  }
}
