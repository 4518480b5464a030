import { RE2JS } from 're2js';

import { AdapterError } from '../errors.js';
import { MAX_MATCH_CHARACTERS } from '../protocol/fields.js';

/** Escapes that stand for a class or a position, such as `\d` and `\b`. */
const CLASS_ESCAPES = new Set('dDsSwWbBAz');
const REPEAT = /\{\d+(?:,\d*)?\}/y;
const CLASS = /\[\^?\]?(?:\[:\^?[a-z]+:\]|\\[^]|[^\]\\])*\]/y;
/** A group without flags or name, and without a group inside: others are rare. */
const FLAT_GROUP = /\((?:\?:|(?!\?))(?:\[\^?\]?(?:\\[^]|[^\]\\])*\]|\\[^]|[^\\()[])*\)/y;

/**
 * A text of ASCII that each match of an expression of RE2 contains: what does not have it need not be matched. Undefined when none
 * is found, which says nothing about the expression.
 */
export function requiredText(expression: string): string | undefined {
  const runs = [''];
  const endRun = () => runs.push('');
  let position = 0;
  while (position < expression.length) {
    const step = stepAt(expression, position);
    if (!step) return undefined;
    if (step.isOptional === true) runs.push((runs.pop() ?? '').slice(0, -1), '');
    else if (step.text === undefined) endRun();
    else runs.push((runs.pop() ?? '') + step.text);
    position += step.length;
  }
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best));
  return longest === '' ? undefined : longest;
}

/** A part of an expression: a character that is required, what makes the one before optional, or what matches anything. */
interface Step {
  readonly length: number;
  readonly text?: string;
  readonly isOptional?: boolean;
}

const SIMPLE: { readonly [character: string]: Step } = {
  '.': { length: 1 },
  '^': { length: 1 },
  $: { length: 1 },
  '+': { length: 1 },
  '*': { length: 1, isOptional: true },
  '?': { length: 1, isOptional: true },
};

/** The part at a position; undefined for one that is not understood, or a choice. */
function stepAt(expression: string, position: number): Step | undefined {
  const character = expression[position] ?? '';
  const simple = SIMPLE[character];
  if (simple) return simple;
  if (character === '\\') return escapeAt(expression[position + 1] ?? '');
  if (character === '{') return matchAt(REPEAT, expression, position, true);
  if (character === '[') return matchAt(CLASS, expression, position);
  if (character === '(') return matchAt(FLAT_GROUP, expression, position);
  if ('|)'.includes(character)) return undefined;
  return character < '\x80' ? { length: 1, text: character } : { length: 1 };
}

function escapeAt(escaped: string): Step | undefined {
  if (CLASS_ESCAPES.has(escaped)) return { length: 2 };
  return /^[!-/:-@[-`{-~]$/.test(escaped) ? { length: 2, text: escaped } : undefined;
}

function matchAt(part: RegExp, expression: string, position: number, isOptional = false): Step | undefined {
  part.lastIndex = position;
  const [found] = part.exec(expression) ?? [];
  return found === undefined ? undefined : { length: found.length, isOptional };
}

/**
 * Longest part of a line that is searched at a time, in bytes: bounds the time that a regular expression takes. A match
 * across the border of two parts is not found.
 */
export const MAX_LINE_PART_BYTES = 16 * 1024;

/** Characters of a longer line that are shown before its match. */
const CHARACTERS_BEFORE = 100;

const LF = 10;

export interface LinePattern {
  readonly pattern: string;
  /** @default false */
  readonly regex?: boolean | undefined;
  /** @default false */
  readonly ignore_case?: boolean | undefined;
}

export interface LineMatch {
  /** Where the line, or its part, begins, in bytes. */
  readonly offset: number;
  /** Number of the line, from 1. */
  readonly line: number;
  /** The line, or the part around the match. */
  readonly text: string;
}

interface LineFinder {
  /** Returns the index of the first match in a line; -1 for none. */
  readonly find: (line: string) => number;
  /** What each line with a match contains; undefined when that is not known. */
  readonly required?: string | undefined;
}

/**
 * Compiles a pattern.
 * @param field of the request that has the pattern, for errors
 * @throws AdapterError INVALID_REQUEST when it is not a regular expression of RE2
 */
export function compileLinePattern(
  { pattern, regex, ignore_case: ignoresCase }: LinePattern,
  field = 'pattern',
): LineFinder {
  if (regex !== true && ignoresCase !== true) {
    return { find: (line) => line.indexOf(pattern), required: isAscii(pattern) ? pattern : undefined };
  }
  try {
    const flags = ignoresCase === true ? RE2JS.CASE_INSENSITIVE : 0;
    const expression = RE2JS.compile(regex === true ? pattern : RE2JS.quote(pattern), flags);
    const find = (line: string) => {
      const matcher = expression.matcher(line);
      return matcher.find() ? matcher.start() : -1;
    };
    return { find, required: ignoresCase === true ? undefined : requiredText(pattern) };
  } catch (error) {
    const message = `\`${field}\` is no regular expression of RE2: ${(error as Error).message}`;
    throw new AdapterError('INVALID_REQUEST', message, { details: { field }, cause: error });
  }
}

/** Other texts may match where bytes are not UTF-8. */
const isAscii = (text: string): boolean => /^[\0-\x7f]+$/.test(text);

/** Searches an output that is passed in pieces, line by line. Each line is searched once and returned at most once. */
export class LineSearch {
  /** Lines with a match, at most `limit`. */
  readonly matches: LineMatch[] = [];
  readonly #finder: LineFinder;
  readonly #required: Buffer | undefined;
  readonly #limit: number;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  /** Bytes after the last line that was searched. */
  #rest: Uint8Array = new Uint8Array();
  #offset: number;
  #lines = 0;
  /** A match in the current line was returned already. */
  #isLineFound = false;
  #passed = new PassedText(this.#rest, undefined);

  /** @param offset where the output begins, in bytes */
  constructor(finder: LineFinder, limit: number, offset: number) {
    this.#finder = finder;
    this.#required = finder.required === undefined ? undefined : Buffer.from(finder.required);
    this.#limit = limit;
    this.#offset = offset;
  }

  /** Where the part that was not searched yet begins, in bytes. */
  get offset(): number {
    return this.#offset;
  }

  /** Line ends so far. */
  get lines(): number {
    return this.#lines;
  }

  get isFull(): boolean {
    return this.matches.length >= this.#limit;
  }

  /**
   * Searches the lines of the next piece. An incomplete line at its end waits for the next piece.
   * @param mustPause called after each line; when true, the rest of the piece waits for the next call
   * @returns whether it was searched to its end; if not, call again, with an empty piece
   */
  take(piece: Uint8Array, mustPause: () => boolean): boolean {
    const bytes = this.#rest.length === 0 ? piece : concat(this.#rest, piece);
    this.#passed = new PassedText(bytes, this.#required);
    let from = 0;
    let isPaused = false;
    while (!this.isFull && !isPaused) {
      const end = bytes.indexOf(LF, from);
      const length = (end === -1 ? bytes.length : end) - from;
      if (end === -1 && length <= MAX_LINE_PART_BYTES) break;
      from += this.#takePart(bytes, from, length);
      isPaused = mustPause();
    }
    this.#rest = bytes.subarray(from);
    return !isPaused && !this.isFull;
  }

  /** Searches the incomplete line at the end. It stays unsearched for `offset`, because it may become longer. */
  takeLast(): void {
    if (this.#rest.length > 0 && !this.isFull) this.#search(this.#rest);
  }

  /** Searches a line with its end, or as much of it as is searched at a time. Returns the length in bytes. */
  #takePart(bytes: Uint8Array, from: number, length: number): number {
    const isWhole = length <= MAX_LINE_PART_BYTES;
    const end = isWhole ? from + length : borderBefore(bytes, from + MAX_LINE_PART_BYTES);
    if (this.#passed.isWithin(from, end)) this.#search(bytes.subarray(from, end));
    const taken = end - from + (isWhole ? 1 : 0);
    this.#offset += taken;
    if (isWhole) {
      this.#lines += 1;
      this.#isLineFound = false;
    }
    return taken;
  }

  #search(part: Uint8Array): void {
    if (this.#isLineFound) return;
    const line = this.#decoder.decode(part).replace(/\r$/, '');
    const index = this.#finder.find(line);
    if (index === -1) return;
    this.#isLineFound = true;
    this.matches.push({ offset: this.#offset, line: this.#lines + 1, text: excerpt(line, index) });
  }
}

/** Tells which parts of some bytes contain a text, asked from the first part to the last. */
class PassedText {
  readonly #bytes: Buffer;
  readonly #text: Buffer | undefined;
  /** Where the text begins next. */
  #next = -1;

  /** @param text undefined when each part has it */
  constructor(bytes: Uint8Array, text: Buffer | undefined) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#text = text;
  }

  isWithin(from: number, end: number): boolean {
    if (this.#text === undefined) return true;
    if (this.#next < from) {
      const found = this.#bytes.indexOf(this.#text, from);
      this.#next = found === -1 ? Infinity : found;
    }
    return this.#next + this.#text.length <= end;
  }
}

/** The part of a long line around a match, without half a surrogate pair at its ends. */
function excerpt(line: string, index: number): string {
  if (line.length <= MAX_MATCH_CHARACTERS) return line;
  const start = Math.max(0, Math.min(index - CHARACTERS_BEFORE, line.length - MAX_MATCH_CHARACTERS));
  return line
    .slice(start, start + MAX_MATCH_CHARACTERS)
    .replace(/^[\uDC00-\uDFFF]/, '')
    .replace(/[\uD800-\uDBFF]$/, '');
}

/** The last border between two characters of UTF-8 up to a position. */
function borderBefore(bytes: Uint8Array, position: number): number {
  let border = position;
  // A character has at most three continuation bytes.
  while (border > position - 3 && ((bytes[border] ?? 0) & 0xc0) === 0x80) border -= 1;
  return border;
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (b.length === 0) return a;
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
