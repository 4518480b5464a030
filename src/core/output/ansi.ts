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
