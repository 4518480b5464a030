/** Keys for a terminal: in order, one request under way; what is typed meanwhile is joined into the next one. */
export class InputQueue {
  readonly #send: (data: string) => Promise<unknown>;
  readonly #onProblem: (error: unknown) => void;
  #waiting = '';
  #isBusy = false;

  /**
   * @param send sends keys; the next ones wait for it
   * @param onProblem gets the error of a request that failed: what waited then is dropped, since it was typed for
   * something else
   */
  constructor(send: (data: string) => Promise<unknown>, onProblem: (error: unknown) => void) {
    this.#send = send;
    this.#onProblem = onProblem;
  }

  /** Sends keys after those before. */
  type(data: string): void {
    this.#waiting += data;
    if (!this.#isBusy) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isBusy = true;
    try {
      while (this.#waiting !== '') {
        const data = this.#waiting;
        this.#waiting = '';
        await this.#send(data);
      }
    } catch (error) {
      this.#waiting = '';
      this.#onProblem(error);
    } finally {
      this.#isBusy = false;
    }
  }
}
