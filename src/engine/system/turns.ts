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
