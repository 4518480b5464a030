import { Terminal } from '@xterm/xterm';

import '@xterm/xterm/css/xterm.css';

import { useCurrentWidths } from '../session/terminal/character-width.js';
import { paletteOf } from '../session/terminal/palette.js';
import type { PlayerScreen } from './player-model.js';

const SCROLLBACK_LINES = 5000;

/** A terminal of xterm.js that shows a recording. It takes no keys. */
export class XtermScreen implements PlayerScreen, Disposable {
  readonly #terminal: Terminal;

  constructor(element: HTMLElement) {
    this.#terminal = new Terminal({
      allowProposedApi: true,
      disableStdin: true,
      fontFamily: getComputedStyle(element).fontFamily,
      fontSize: 13,
      scrollback: SCROLLBACK_LINES,
      minimumContrastRatio: 4.5,
    });
    useCurrentWidths(this.#terminal);
    // Keys are those of the player and of the page.
    this.#terminal.attachCustomKeyEventHandler(() => false);
    this.#terminal.open(element);
    if (this.#terminal.textarea) this.#terminal.textarea.tabIndex = -1;
  }

  /** Sets the colours. */
  set isDark(isDark: boolean) {
    this.#terminal.options.theme = paletteOf(isDark);
  }

  write(text: string): void {
    this.#terminal.write(text);
  }

  reset(): void {
    this.#terminal.reset();
  }

  resize(cols: number, rows: number): void {
    if (cols !== this.#terminal.cols || rows !== this.#terminal.rows) this.#terminal.resize(cols, rows);
  }

  [Symbol.dispose](): void {
    this.#terminal.dispose();
  }
}
