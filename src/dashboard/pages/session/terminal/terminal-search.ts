// Tests search a terminal without a page; the types of the other package need those of a browser.
import type { IBuffer, IBufferLine, IBufferRange, Terminal } from '@xterm/headless';

/** A place of a text. Cells are counted from the first one of the buffer. */
interface Match {
  readonly start: number;
  readonly end: number;
}

/** A line of output: its first row, and its rows, more than one where it was wrapped. */
interface LogicalLine {
  readonly row: number;
  readonly rows: readonly IBufferLine[];
}

/** What a terminal needs to be searched. */
export interface SearchedTerminal extends Pick<Terminal, 'buffer' | 'cols' | 'rows' | 'scrollToLine'> {
  getSelectionPosition(): IBufferRange | undefined;
  select(column: number, row: number, length: number): void;
}

/**
 * Selects the next or previous place of a text after the selection, in upper or lower case, from the other end on when there is none.
 * A place may span rows where a line was wrapped. Returns false when the text is nowhere.
 */
export function selectMatch(terminal: SearchedTerminal, text: string, isBackwards: boolean): boolean {
  if (text === '') return false;
  const { cols, buffer } = terminal;
  const pattern = new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`), 'giu');
  const selected = terminal.getSelectionPosition()?.start;
  const from = selected ? selected.y * cols + selected.x : isBackwards ? Infinity : -1;
  const lines = linesOf(buffer.active);
  if (isBackwards) lines.reverse();
  const isBeyond = ({ start }: Match) => (isBackwards ? start < from : start > from);
  for (const isWanted of [isBeyond, () => true]) {
    for (const line of lines) {
      const matches = matchesIn(line, pattern, cols).filter(isWanted);
      const match = isBackwards ? matches.at(-1) : matches[0];
      if (!match) continue;
      show(terminal, match);
      return true;
    }
  }
  return false;
}

function linesOf(buffer: IBuffer): LogicalLine[] {
  const lines: { row: number; rows: IBufferLine[] }[] = [];
  for (let row = 0; row < buffer.length; row++) {
    const line = buffer.getLine(row);
    if (!line) continue;
    const last = lines.at(-1);
    if (last && line.isWrapped) last.rows.push(line);
    else lines.push({ row, rows: [line] });
  }
  return lines;
}

function matchesIn({ row, rows }: LogicalLine, pattern: RegExp, cols: number): readonly Match[] {
  const texts = rows.map((line) => line.translateToString());
  /** The cell of a character of the joined text. */
  const cellOf = (index: number): number => {
    let [before, at] = [0, 0];
    for (; at < texts.length - 1 && index >= before + (texts[at]?.length ?? 0); at++) before += texts[at]?.length ?? 0;
    return (row + at) * cols + columnOf(rows[at], index - before);
  };
  return [...texts.join('').matchAll(pattern)].map(({ index, 0: found }) => ({
    start: cellOf(index),
    end: cellOf(index + found.length - 1) + 1,
  }));
}

/** The column of a character in the text of a row: wide characters have two columns, others several code units. */
function columnOf(line: IBufferLine | undefined, index: number): number {
  let units = 0;
  for (let column = 0; column < (line?.length ?? 0); column++) {
    const cell = line?.getCell(column);
    if (cell?.getWidth() === 0) continue;
    units += cell?.getChars().length || 1;
    if (units > index) return column;
  }
  return index;
}

function show(terminal: SearchedTerminal, { start, end }: Match): void {
  const { cols, rows, buffer } = terminal;
  const row = Math.floor(start / cols);
  terminal.select(start % cols, row, end - start);
  const { viewportY } = buffer.active;
  if (row < viewportY || row >= viewportY + rows) terminal.scrollToLine(Math.max(0, row - Math.floor(rows / 2)));
}
