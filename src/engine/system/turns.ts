/** Runs one action after the other, in the order in which they are asked for. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs an action when those before it have settled; settles as it does. */
  take<T>(act: () => Promise<T>): Promise<T> {
    const result = this.#last.then(act);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
