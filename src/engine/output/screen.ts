import type { IBufferCell, Terminal } from '@xterm/headless';

import type { ScreenCell, ScreenView } from '../../core/screen.js';
import { Turns } from '../system/promises.js';
import type { OutputStream } from './output-stream.js';

/** Size of the pieces in which an output is read, in bytes. */
const PIECE_BYTES = 256 * 1024;
/** Most output that is drawn for one look, in bytes: what came before it is scrolled away, or drawn over. */
const MAX_REPLAY_BYTES = 4 * 1024 * 1024;

/** Size of a terminal, in characters. */
export interface ScreenSize {
  readonly cols: number;
  readonly rows: number;
}

/** The screen of a terminal, drawn from the kept output of its command on demand. */
export class Screen implements Disposable {
  readonly #terminal: Terminal;
  readonly #output: OutputStream;
  #position = 0;
  readonly #turns = new Turns();

  private constructor(terminal: Terminal, output: OutputStream) {
    this.#terminal = terminal;
    this.#output = output;
  }

  /** Makes the screen of a command's output. The library is loaded for the first one. */
  static async of(output: OutputStream, { cols, rows }: ScreenSize): Promise<Screen> {
    const { default: headless } = await import('@xterm/headless');
    return new Screen(new headless.Terminal({ cols, rows, scrollback: 0, allowProposedApi: true }), output);
  }

  /** Draws what was printed since the last look, up to now. */
  draw({ cols, rows }: ScreenSize): Promise<void> {
    return this.#turns.take(() => this.#draw({ cols, rows }, this.#output.bytes));
  }

  /** Whether the program has asked for the application mode of cursor keys. */
  get hasApplicationKeys(): boolean {
    return this.#terminal.modes.applicationCursorKeysMode;
  }

  /** The lines of text. Rows into which a long line was wrapped are one line. */
  lines(): readonly string[] {
    const { active } = this.#terminal.buffer;
    const lines: string[] = [];
    for (let row = 0; row < this.#terminal.rows; row += 1) {
      const line = active.getLine(active.baseY + row);
      const text = line?.translateToString(true) ?? '';
      if (line?.isWrapped === true && row > 0) lines.push(`${lines.pop() ?? ''}${text}`);
      else lines.push(text);
    }
    return lines;
  }

  /** A text that differs when anything that can be seen differs: characters, their looks, the cursor. */
  fingerprint(): string {
    const { active } = this.#terminal.buffer;
    const { rows, cols } = this.#terminal;
    const seen: (string | number)[] = [cols, active.cursorX, active.cursorY, active.type];
    const reused = active.getNullCell();
    let last = '';
    for (let row = 0; row < rows; row += 1) {
      const line = active.getLine(active.baseY + row);
      seen.push('\n', line?.translateToString() ?? '');
      for (let column = 0; column < cols; column += 1) {
        const style = styleOf(line?.getCell(column, reused));
        if (style !== last) seen.push(column, style);
        last = style;
      }
    }
    return seen.join(' ');
  }

  view(hasCells: boolean): ScreenView {
    const { active } = this.#terminal.buffer;
    const { rows, cols } = this.#terminal;
    const numbers = Array.from({ length: rows }, (_, index) => active.baseY + index);
    const lines = numbers.map((number) => active.getLine(number)?.translateToString(true) ?? '');
    return {
      text: lines.join('\n').trimEnd(),
      rows,
      cols,
      cursor: { row: active.cursorY + 1, col: Math.min(active.cursorX, cols - 1) + 1 },
      alternate: active.type === 'alternate',
      ...(hasCells && { cells: numbers.map((number) => this.#cellsOf(number)) }),
    };
  }

  [Symbol.dispose](): void {
    this.#terminal.dispose();
  }

  async #draw({ cols, rows }: ScreenSize, end: number): Promise<void> {
    if (cols !== this.#terminal.cols || rows !== this.#terminal.rows) this.#terminal.resize(cols, rows);
    if (end - this.#position > MAX_REPLAY_BYTES) {
      this.#terminal.reset();
      this.#position = end - MAX_REPLAY_BYTES;
    }
    while (this.#position < end) {
      const piece = await this.#output.spool.read(this.#position, Math.min(PIECE_BYTES, end - this.#position));
      if (piece.length === 0) return;
      this.#position += piece.length;
      await new Promise<void>((resolve) => {
        this.#terminal.write(piece, resolve);
      });
    }
  }

  #cellsOf(number: number): ScreenCell[] {
    const line = this.#terminal.buffer.active.getLine(number);
    return Array.from({ length: this.#terminal.cols }, (_, column) => renderCell(line?.getCell(column)));
  }
}

function styleOf(cell: IBufferCell | undefined): string {
  if (!cell || cell.isAttributeDefault()) return '';
  const colours = `${cell.getFgColorMode()},${cell.getFgColor()},${cell.getBgColorMode()},${cell.getBgColor()}`;
  return `${colours},${Object.keys(attributesOf(cell)).join()}`;
}

function renderCell(cell: IBufferCell | undefined): ScreenCell {
  if (!cell) return { text: ' ', width: 1 };
  const width = cell.getWidth();
  return {
    text: cell.getChars() || (width === 0 ? '' : ' '),
    width,
    ...colourOf('fg', cell.isFgRGB(), cell.isFgPalette(), cell.getFgColor()),
    ...colourOf('bg', cell.isBgRGB(), cell.isBgPalette(), cell.getBgColor()),
    ...attributesOf(cell),
  };
}

function colourOf(name: 'fg' | 'bg', isDirect: boolean, isPalette: boolean, colour: number) {
  if (isDirect) return { [name]: `#${colour.toString(16).padStart(6, '0')}` };
  return isPalette ? { [name]: colour } : {};
}

function attributesOf(cell: IBufferCell): Partial<ScreenCell> {
  return {
    ...(cell.isBold() !== 0 && { bold: true }),
    ...(cell.isDim() !== 0 && { dim: true }),
    ...(cell.isItalic() !== 0 && { italic: true }),
    ...(cell.isUnderline() !== 0 && { underline: true }),
    ...(cell.isInverse() !== 0 && { inverse: true }),
    ...(cell.isStrikethrough() !== 0 && { strikethrough: true }),
  };
}
