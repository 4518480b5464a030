import { MAX_SEQUENCE_CHARACTERS, SEQUENCE_PATTERN, unfinishedSequence } from './ansi.js';
import { LINE_FEED } from './line-feeds.js';
import { Utf8Cursor } from './utf8.js';

/** What a clipped line ends in: an ellipsis, in UTF-8. */
const ELLIPSIS = new TextEncoder().encode('…');

const WHOLE_SEQUENCE = new RegExp(`^(?:${SEQUENCE_PATTERN})$`, 'u');

/** Receives bytes that are kept; they are valid during the call. */
type Keep = (bytes: Uint8Array) => void;

/**
 * Clips long lines of a stream, in constant memory: of a line with more characters than the limit, the first ones are
 * kept, and an ellipsis. An escape sequence of up to 256 bytes is kept or left out whole.
 */
export class LineClipper {
  readonly #most: number;
  readonly #cursor = new Utf8Cursor();
  #clipped = 0;
  /** What becomes of the open line's bytes. `sequence`: the line is full, but an escape sequence is unfinished. */
  #state: 'kept' | 'sequence' | 'omitted' = 'kept';
  /** The last bytes of the open line before this chunk, a character each: an escape sequence may begin there. */
  #recent = '';
  /** The unfinished sequence, and how much of it is kept already. */
  #sequence = '';
  #kept = 0;

  /** @param most characters of a line that are kept */
  constructor(most: number) {
    this.#most = most;
  }

  /** Number of lines that were clipped so far. */
  get clipped(): number {
    return this.#clipped;
  }

  /** Takes the next bytes of the stream, and passes on those that are kept. */
  push(chunk: Uint8Array, keep: Keep): void {
    let run = 0;
    let at = 0;
    while (at < chunk.length) {
      const feed = chunk.indexOf(LINE_FEED, at);
      const end = feed === -1 ? chunk.length : feed;
      if (this.#state === 'kept') {
        const cut = this.#cutIn(chunk, at, end);
        if (cut !== -1) {
          keep(chunk.subarray(run, cut));
          this.#startOmission(chunk.subarray(at, cut));
          at = cut;
        } else if (feed === -1) this.#recent = lastOf(this.#recent, chunk.subarray(at));
      }
      if (this.#state === 'sequence') this.#finishSequence(chunk.subarray(at, end), keep);
      if (this.#state !== 'kept') run = end;
      if (feed !== -1) this.#startLine(keep);
      at = end + 1;
    }
    if (run < chunk.length) keep(chunk.subarray(run));
  }

  /** Where the line in these bytes is to be cut; -1 for nowhere. */
  #cutIn(chunk: Uint8Array, from: number, end: number): number {
    // No line has more characters than bytes.
    const isShort = end < chunk.length && this.#cursor.characters + end - from <= this.#most;
    return isShort ? -1 : this.#cursor.advance(chunk, from, end, this.#most);
  }

  #startOmission(before: Uint8Array): void {
    this.#clipped += 1;
    this.#state = 'sequence';
    this.#sequence = unfinishedSequence(lastOf(this.#recent, before)) ?? '';
    this.#kept = this.#sequence.length;
  }

  #finishSequence(bytes: Uint8Array, keep: Keep): void {
    for (const byte of bytes) {
      if (this.#sequence === '') break;
      this.#sequence += String.fromCharCode(byte);
      if (unfinishedSequence(this.#sequence) === this.#sequence) {
        if (this.#sequence.length <= MAX_SEQUENCE_CHARACTERS) continue;
      } else if (WHOLE_SEQUENCE.test(this.#sequence)) {
        keep(Uint8Array.from(this.#sequence.slice(this.#kept), (character) => character.charCodeAt(0)));
      }
      this.#sequence = '';
    }
    if (this.#sequence === '') this.#omitRest(keep);
  }

  #omitRest(keep: Keep): void {
    this.#state = 'omitted';
    this.#sequence = '';
    keep(ELLIPSIS);
  }

  #startLine(keep: Keep): void {
    if (this.#state === 'sequence') this.#omitRest(keep);
    this.#state = 'kept';
    this.#recent = '';
    this.#cursor.reset();
  }
}

/** The last bytes of both, a character each. */
const lastOf = (text: string, bytes: Uint8Array): string =>
  (text + String.fromCharCode(...bytes.subarray(-MAX_SEQUENCE_CHARACTERS))).slice(-MAX_SEQUENCE_CHARACTERS);
