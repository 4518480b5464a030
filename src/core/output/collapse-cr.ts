import { SEQUENCE_PATTERN } from './ansi.js';

const CAPTURED_SEQUENCE = new RegExp(`(${SEQUENCE_PATTERN})`, 'u');

/** CSI K: erases from the cursor to the end of the line. */
const ERASE_TO_END = /\[0?K$/u;

/** CSI 2 K: erases the line; the cursor stays. */
const ERASE_LINE = /\[2K$/u;

/** What a terminal shows for a line with carriage returns inside it. */
function overwrite(line: string): string {
  const cells: (string | undefined)[] = [];
  for (const segment of line.split('\r')) {
    let column = 0;
    segment.split(CAPTURED_SEQUENCE).forEach((part, index) => {
      const isSequence = index % 2 === 1;
      if (!isSequence) for (const character of part) cells[column++] = character;
      else if (ERASE_LINE.test(part)) cells.length = 0;
      else if (ERASE_TO_END.test(part)) cells.length = Math.min(cells.length, column);
    });
  }
  return Array.from(cells, (cell) => cell ?? ' ').join('');
}

function collapseLine(line: string, isTerminated: boolean): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === '\r') end--;
  const lineEnd = isTerminated && end < line.length ? '\r' : '';
  const content = line.slice(0, end);
  return (content.includes('\r') ? overwrite(content) : content) + lineEnd;
}

/**
 * The text as a terminal shows it after carriage returns: within a line, text after a lone CR overwrites from column 0.
 * CR LF stays a line end; a CR at the very end of the text is dropped. An overwritten line loses its escape sequences;
 * of these, the two on which progress bars rely take effect: erase line (CSI 2 K) and erase to the end (CSI K). Other
 * lines keep theirs. Every code point takes one column, including wide and combining characters.
 */
export function collapseCr(text: string): string {
  if (!text.includes('\r')) return text;
  const lines = text.split('\n');
  return lines.map((line, index) => collapseLine(line, index < lines.length - 1)).join('\n');
}
