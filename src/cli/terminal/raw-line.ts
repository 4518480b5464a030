/** Ctrl-C, Ctrl-D and Escape: no answer. */
// oxlint-disable-next-line no-control-regex -- control characters are keys
const DECLINES = /[\x03\x04\x1b]/;
const ENTER = /[\r\n]/;
const ERASES = new Set(['\x7f', '\b']);

/** Reads one line from a terminal in raw mode, which neither edits nor echoes. */
export class RawLine {
  /** Resolves with the line; empty when it was declined. */
  readonly done: Promise<string>;
  readonly #echo: (text: string) => void;
  #finish!: (line: string) => void;
  #isDone = false;
  #line: string[] = [];

  constructor(echo: (text: string) => void) {
    this.#echo = echo;
    this.done = new Promise((resolve) => (this.#finish = resolve));
  }

  /**
   * Processes typed keys: Enter ends the line, an erase key removes the last character.
   * @returns the keys after its end, which belong to what comes next
   */
  take(keys: string): string {
    let taken = 0;
    for (const key of keys) {
      if (this.#isDone) break;
      taken += key.length;
      this.#takeKey(key);
    }
    return keys.slice(taken);
  }

  #takeKey(key: string): void {
    if (DECLINES.test(key) || ENTER.test(key)) {
      this.#isDone = true;
      this.#finish(ENTER.test(key) ? this.#line.join('') : '');
    } else if (ERASES.has(key)) {
      if (this.#line.pop() !== undefined) this.#echo('\b \b');
    } else if (key >= ' ') {
      this.#line.push(key);
      this.#echo(key);
    }
  }
}
