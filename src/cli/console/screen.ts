import type { Context } from './context.js';
import { onOneLine } from './style.js';

/** Moves the cursor to the top left corner and erases the rest: unlike clearing the screen, this does not flicker. */
const HOME = '\x1b[H';
const ERASE_LINE_END = '\x1b[K';
const ERASE_BELOW = '\x1b[J';
const CLEAR = '\x1b[2J';

/** Size of a terminal that does not tell its own. */
const DEFAULT_SIZE = { columns: 80, rows: 24 };

/** Shows lines on a terminal in place of those before. */
export class Screen {
  readonly #stdout: Context['stdout'];
  #isDrawn = false;

  constructor({ stdout }: Pick<Context, 'stdout'>) {
    this.#stdout = stdout;
  }

  /** Draws as many lines as there is room for, below the time. */
  async draw(lines: readonly string[]): Promise<void> {
    const { columns, rows } = this.#stdout.size ?? DEFAULT_SIZE;
    const all = [`${new Date().toLocaleTimeString()}  (Ctrl-C ends)`, '', ...lines];
    const shown = all.slice(0, rows - 1).map((line) => `${onOneLine(line, columns)}${ERASE_LINE_END}\n`);
    const start = this.#isDrawn ? HOME : `${CLEAR}${HOME}`;
    this.#isDrawn = true;
    await this.#stdout.write(`${start}${shown.join('')}${ERASE_BELOW}`);
  }
}
