/** Lets one loop sleep until an event, or for a time. An event between two sleeps is not lost. */
export class Wake implements Disposable {
  #hasCome = false;
  #resolve: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Ends the sleep, or the next one. */
  readonly now = (): void => {
    this.#hasCome = true;
    this.#resolve?.();
  };

  /** Forgets earlier events: the caller looks now. */
  reset(): void {
    this.#hasCome = false;
  }

  /** Sleeps for a time in milliseconds, or until an event. */
  async sleep(ms: number): Promise<void> {
    if (this.#hasCome || ms <= 0) return;
    await new Promise<void>((resolve) => {
      this.#resolve = resolve;
      this.#timer = setTimeout(resolve, ms);
    });
    this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#resolve = undefined;
  }
}
