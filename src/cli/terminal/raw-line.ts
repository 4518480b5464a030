/** Ctrl-C, Ctrl-D and Escape: no answer. */
// eslint-disable-next-line no-control-regex -- control characters are keys
const DECLINES = /[\x03\x04\x1b]/;
const ENTER = /[\r\n]/;
const ERASES = new Set(['\x7f', '\b']);

/** Reads one line from a terminal in raw mode, which neither edits nor echoes. */
export class RawLine {
  /** Resolves with the line; empty when it was declined. */
  readonly done: Promise<string>;
  readonly #echo: (text: string) => void;
  #finish!: (line: string) => void;
  #line: string[] = [];

  constructor(echo: (text: string) => void) {
    this.#echo = echo;
    this.done = new Promise((resolve) => (this.#finish = resolve));
  }

  /** Processes typed keys: Enter ends the line, an erase key removes the last character. */
  take(keys: string): void {
    for (const key of keys) {
      if (DECLINES.test(key) || ENTER.test(key)) {
        this.#finish(ENTER.test(key) ? this.#line.join('') : '');
        return;
      }
      if (ERASES.has(key)) {
        if (this.#line.pop() !== undefined) this.#echo('\b \b');
      } else if (key >= ' ') {
        this.#line.push(key);
        this.#echo(key);
      }
    }
  }
}
