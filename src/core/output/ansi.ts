import { countCharacters, MAX_BYTES_PER_CHARACTER } from './utf8.js';

const ESC = '\u001b';
const BEL = '\u0007';

/**
 * Longest escape sequence, in characters, that trimming keeps whole. Real ones are shorter, except for images and
 * clipboard contents; without a bound a stray introducer would swallow the output around it.
 */
export const MAX_SEQUENCE_CHARACTERS = 256;

/** The same in bytes: number of bytes needed on both sides of a cut to detect whether it falls inside a sequence. */
export const MAX_SEQUENCE_BYTES = MAX_SEQUENCE_CHARACTERS * MAX_BYTES_PER_CHARACTER;

/** ESC [ parameters intermediates final (ECMA-48, 5.4). */
const CONTROL_SEQUENCE = `${ESC}\\[[0-?]*[ -/]*[@-~]`;

/**
 * OSC, DCS, SOS, PM and APC strings up to ST, or up to BEL as xterm accepts it. A line feed ends the search: strings
 * with a line feed are in practice titles that were never terminated.
 */
const CONTROL_STRING = `${ESC}[\\]PX^_][^${BEL}${ESC}\\n]*(?:${BEL}|${ESC}\\\\)`;

/** ESC intermediates final, like the character set switch in `tput sgr0` (ECMA-35, 13.2). */
const DESIGNATION = `${ESC}[ -/]+[0-~]`;

/** ESC and one more character: all sequences that are not introducers of longer ones. */
const TWO_CHARACTERS = `${ESC}[0-OQ-WYZ\\\\\`-~]`;

/**
 * Source of a regular expression for one complete 7-bit escape sequence, without capturing groups. No part of it can
 * match across another ESC except in ST, which keeps every search linear.
 */
export const SEQUENCE_PATTERN = [CONTROL_SEQUENCE, CONTROL_STRING, DESIGNATION, TWO_CHARACTERS].join('|');

/** Pattern of an incomplete sequence. */
const UNFINISHED_PATTERN = [
  `${ESC}\\[[0-?]*[ -/]*$`,
  `${ESC}[\\]PX^_][^${BEL}${ESC}\\n]{0,${MAX_SEQUENCE_CHARACTERS}}${ESC}?$`,
  `${ESC}[ -/]*$`,
].join('|');

const STRIPPED = new RegExp(`${SEQUENCE_PATTERN}|${UNFINISHED_PATTERN}|${ESC}`, 'gu');

/**
 * Removes ANSI escape sequences from a text, including an incomplete one at its end. An ESC that starts no sequence is
 * removed alone: the result never contains one. 8-bit controls (U+0080 to U+009F) are kept.
 */
export function stripAnsi(text: string): string {
  return text.includes(ESC) ? text.replace(STRIPPED, '') : text;
}

const UNFINISHED = new RegExp(UNFINISHED_PATTERN, 'u');

/** The incomplete escape sequence at the end of a text; undefined when there is none. */
export const unfinishedSequence = (text: string): string | undefined => UNFINISHED.exec(text)?.[0];

/** Removes ANSI escape sequences from a text that arrives in pieces, which may end at any position. */
export class AnsiStripper {
  #held = '';

  /** Appends a piece; returns the text that is certain so far. */
  push(text: string): string {
    const all = this.#held + text;
    this.#held = '';
    if (!all.includes(ESC)) return all;
    const at = all.search(UNFINISHED);
    // Longer text is no escape sequence.
    if (at === -1 || all.length - at > MAX_SEQUENCE_CHARACTERS) return stripAnsi(all);
    this.#held = all.slice(at);
    return stripAnsi(all.slice(0, at));
  }
}

/** A range of a byte array: from `start` up to, not including, `end`. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The complete escape sequence of at most 256 characters that a cut before byte `cut` would split. `bytes` must contain
 * `MAX_SEQUENCE_BYTES` on both sides of the cut, or all that exist.
 */
export function sequenceAround(bytes: Uint8Array, cut: number): ByteRange | undefined {
  const from = Math.max(0, cut - MAX_SEQUENCE_BYTES);
  // One code unit per byte: the grammar only contains ASCII, and positions remain byte offsets.
  const text = String.fromCharCode(...bytes.subarray(from, cut + MAX_SEQUENCE_BYTES));
  for (const match of text.matchAll(new RegExp(SEQUENCE_PATTERN, 'g'))) {
    const start = from + match.index;
    const end = start + match[0].length;
    if (start >= cut) return undefined;
    if (end <= cut) continue;
    return countCharacters(bytes.subarray(start, end)) > MAX_SEQUENCE_CHARACTERS ? undefined : { start, end };
  }
  return undefined;
}

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

/** The byte that ends a line. */
export const LINE_FEED = 0x0a;

/** Words whose lanes are summed before a lane could overflow: one more than a byte holds. */
const BLOCK_WORDS = 255;

/** Number of line feeds in the bytes, four bytes at a time. */
export function countLineFeeds(bytes: Uint8Array): number {
  // Words begin at multiples of four bytes.
  const prologue = -bytes.byteOffset & 3;
  if (bytes.length < prologue) return bytes.filter((byte) => byte === LINE_FEED).length;
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + prologue, (bytes.length - prologue) >> 2);
  let count = 0;
  for (let i = 0; i < prologue; i++) if (bytes[i] === LINE_FEED) count++;
  for (let i = prologue + words.length * 4; i < bytes.length; i++) if (bytes[i] === LINE_FEED) count++;
  for (let block = 0; block < words.length; block += BLOCK_WORDS) {
    const end = Math.min(block + BLOCK_WORDS, words.length);
    let lanes = 0;
    for (let i = block; i < end; i++) {
      // A lane is zero where the byte is a line feed: then, and only then, its highest bit stays clear.
      const lane = (words[i] ?? 0) ^ 0x0a0a0a0a;
      const filled = ((lane & 0x7f7f7f7f) + 0x7f7f7f7f) | lane;
      lanes = (lanes + ((~filled >>> 7) & 0x01010101)) | 0;
    }
    count += (lanes & 0xff) + ((lanes >>> 8) & 0xff) + ((lanes >>> 16) & 0xff) + (lanes >>> 24);
  }
  return count;
}

/** Number of lines in the bytes; a last one without its end counts. */
export const countLines = (bytes: Uint8Array): number =>
  countLineFeeds(bytes) + (bytes.length > 0 && bytes[bytes.length - 1] !== LINE_FEED ? 1 : 0);

/** Offset after the first `count` lines, or the length when there are fewer. */
export function endOfFirstLines(bytes: Uint8Array, count: number): number {
  let end = 0;
  for (let i = 0; i < count; i++) {
    const at = bytes.indexOf(LINE_FEED, end);
    if (at === -1) return bytes.length;
    end = at + 1;
  }
  return end;
}

/** Offset at which the last `count` lines begin, or 0 when there are fewer. */
export function startOfLastLines(bytes: Uint8Array, count: number): number {
  if (count === 0) return bytes.length;
  // The feed at the very end belongs to the last line.
  let at = bytes.length - 1;
  for (let i = 0; i < count; i++) {
    if (at <= 0) return 0;
    at = bytes.lastIndexOf(LINE_FEED, at - 1);
    if (at === -1) return 0;
  }
  return at + 1;
}
