/** Does something again and again, one at a time, and at once when it is asked to. */
export class Heartbeat implements AsyncDisposable {
  readonly #intervalMs: number;
  readonly #beat: () => Promise<void>;
  #running: Promise<void> | undefined;
  #isClosing = false;
  #isHastened = false;
  #wake: () => void = () => undefined;

  /** @param beat never rejects */
  constructor(intervalMs: number, beat: () => Promise<void>) {
    this.#intervalMs = intervalMs;
    this.#beat = beat;
  }

  /** Begins with a beat; resolves after it. */
  async start(): Promise<void> {
    await this.#beat();
    this.#running = this.#repeat();
  }

  /** Makes the next beat come at once, after the one that is under way. */
  hasten(): void {
    this.#isHastened = true;
    this.#wake();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    this.#wake();
    await this.#running;
  }

  async #repeat(): Promise<void> {
    for (;;) {
      if (!this.#isHastened && !this.#isClosing) await this.#pause();
      this.#isHastened = false;
      if (this.#isClosing) return;
      await this.#beat();
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#intervalMs).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
