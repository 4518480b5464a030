import {
  collapseCr,
  countLineFeeds,
  countLines,
  endOfFirstLines,
  LINE_FEED,
  MAX_SEQUENCE_BYTES,
  MAX_SEQUENCE_CHARACTERS,
  SEQUENCE_PATTERN,
  sequenceAround,
  startOfLastLines,
  stripAnsi,
  unfinishedSequence,
} from './ansi.js';
import {
  base64,
  type ByteScanner,
  characterOffset,
  countCharacters,
  MAX_BYTES_PER_CHARACTER,
  Utf8Counter,
  Utf8Cursor,
} from './utf8.js';

/** How much of a stream a `ByteWindow` keeps, in bytes. */
interface ByteWindowSizes {
  readonly headBytes: number;
  readonly tailBytes: number;
}

/**
 * Keeps the first and the last bytes of a stream in constant memory. The head grows with the stream by doubling; the
 * ring for the tail is allocated when the head is full, and holds only bytes that are not in the head.
 */
export class ByteWindow {
  readonly #sizes: ByteWindowSizes;
  #head: Uint8Array | undefined;
  #headLength = 0;
  #ring: Uint8Array | undefined;
  #total = 0;

  constructor(sizes: ByteWindowSizes) {
    this.#sizes = sizes;
  }

  /** Bytes pushed so far. */
  get total(): number {
    return this.#total;
  }

  /** Appends the next bytes of the stream; copies the bytes that it keeps. */
  push(bytes: Uint8Array): void {
    const room = this.#sizes.headBytes - this.#headLength;
    if (bytes.length <= room) {
      this.#appendToHead(bytes);
    } else {
      if (room > 0) this.#appendToHead(bytes.subarray(0, room));
      this.#appendToRing(room > 0 ? bytes.subarray(room) : bytes);
    }
    this.#total += bytes.length;
  }

  /** The first bytes of the stream, at most `headBytes`: a view, valid until the next push. */
  head(): Uint8Array {
    return this.#head?.subarray(0, this.#headLength) ?? new Uint8Array(0);
  }

  /** The last bytes of the stream, at most `tailBytes`: a copy. */
  tail(): Uint8Array {
    const { tailBytes } = this.#sizes;
    const ringed = this.#total - this.#headLength;
    const fromRing = Math.min(ringed, tailBytes);
    const fromHead = Math.min(tailBytes - fromRing, this.#headLength);
    const tail = new Uint8Array(fromHead + fromRing);
    tail.set(this.head().subarray(this.#headLength - fromHead));
    if (this.#ring && fromRing > 0) {
      const oldest = ringed > tailBytes ? ringed % tailBytes : 0;
      const older = this.#ring.subarray(oldest, fromRing);
      tail.set(older, fromHead);
      tail.set(this.#ring.subarray(0, oldest), fromHead + older.length);
    }
    return tail;
  }

  #appendToHead(bytes: Uint8Array): void {
    const length = this.#headLength + bytes.length;
    if (!this.#head || length > this.#head.length) {
      const doubled = Math.min(this.#sizes.headBytes, 2 * this.#headLength);
      const grown = new Uint8Array(Math.max(length, doubled));
      if (this.#head) grown.set(this.#head);
      this.#head = grown;
    }
    this.#head.set(bytes, this.#headLength);
    this.#headLength = length;
  }

  /** Byte `n` after the head is stored at `n % tailBytes`, so that no position needs to be kept. */
  #appendToRing(bytes: Uint8Array): void {
    const { tailBytes } = this.#sizes;
    if (tailBytes === 0) return;
    this.#ring ??= new Uint8Array(tailBytes);
    const skipped = Math.max(0, bytes.length - tailBytes);
    const kept = skipped === 0 ? bytes : bytes.subarray(skipped);
    const ringed = Math.max(0, this.#total - this.#sizes.headBytes);
    const position = (ringed + skipped) % tailBytes;
    const untilEnd = tailBytes - position;
    if (kept.length <= untilEnd) {
      this.#ring.set(kept, position);
    } else {
      this.#ring.set(kept.subarray(0, untilEnd), position);
      this.#ring.set(kept.subarray(untilEnd), 0);
    }
  }
}

/** What a clipped line ends in: an ellipsis, in UTF-8. */
const ELLIPSIS = new TextEncoder().encode('…');

const WHOLE_SEQUENCE = new RegExp(`^(?:${SEQUENCE_PATTERN})$`, 'u');

type Keep = (bytes: Uint8Array) => void;

/**
 * Clips long lines of a stream, in constant memory: of a line with more characters than the limit, the first ones are
 * kept, and an ellipsis. An escape sequence of up to 256 bytes is kept or left out whole.
 */
class LineClipper {
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

const withThousands = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/gu, ',');

const markerLine = (counts: string, hint: string): string =>
  `[... ${hint === '' ? counts : `${counts}; ${hint}`} ...]\n`;

/** The line that stands for characters that were left out. */
const sizeMarker = (leftOut: number, total: number, hint: string): string =>
  markerLine(`${withThousands(leftOut)} of ${withThousands(total)} characters left out`, hint);

/** Lines around a marker. */
interface ShownLines {
  /** Lines before and after it, in whole or in part: one that is on both sides counts twice. */
  readonly shown: number;
  readonly total: number;
  /** Whether the last line before it is shown in part. */
  readonly cutsHead: boolean;
  /** Whether the first line after it is shown in part. */
  readonly cutsTail: boolean;
}

/** The line that stands for lines that were left out, and for the rest of those that are shown in part. */
function lineMarker({ shown, total, cutsHead, cutsTail }: ShownLines, hint: string): string {
  const leftOut = Math.max(0, total - shown);
  const isSameLine = shown > total;
  const cut = isSameLine ? 1 : Number(cutsHead) + Number(cutsTail);
  const of = `of ${withThousands(total)} ${total === 1 ? 'line' : 'lines'}`;
  const counts = [
    ...(leftOut > 0 || cut === 0 ? [`${withThousands(leftOut)} ${of} left out`] : []),
    ...(cut > 0 ? [`${cut} ${leftOut > 0 ? (cut === 1 ? 'line' : 'lines') : of} cut`] : []),
  ];
  return markerLine(counts.join(', '), hint);
}

/** Joins the two parts of an output and the marker between them. */
function joinAsBase64(head: Uint8Array, marker: string, tail: Uint8Array): string {
  const breaksLine = head.length > 0 && head[head.length - 1] !== LINE_FEED;
  const middle = new TextEncoder().encode(breaksLine ? `\n${marker}` : marker);
  const joined = new Uint8Array(head.length + middle.length + tail.length);
  joined.set(head);
  joined.set(middle, head.length);
  joined.set(tail, head.length + middle.length);
  return base64(joined);
}

/** Number of lines of the returned output. The caller guarantees `beginLines + endLines <= maxLines`. */
export interface LineLimits {
  /** Longest output that is returned whole. */
  readonly maxLines: number;
  readonly beginLines: number;
  readonly endLines: number;
}

/** Size of the returned output, in characters. The caller guarantees `beginSize + endSize <= maxSize`. */
export interface OutputLimits {
  /** Longest output that is returned whole. */
  readonly maxSize: number;
  readonly beginSize: number;
  readonly endSize: number;
  /** @default any number of lines */
  readonly lines?: LineLimits | undefined;
  /**
   * Characters after which a line is cut and ends in `…`, before all else.
   * @default any length
   */
  readonly maxLineLength?: number | undefined;
}

export interface RenderOptions {
  /**
   * `base64` encodes the exact bytes that are kept, and the marker between them; the two filters do not apply to it.
   */
  readonly encoding: 'utf8' | 'base64';
  /** Remove ANSI escape sequences. Applied after trimming and after `collapseCr`. */
  readonly stripAnsi: boolean;
  /** Show lines overwritten by carriage returns in their final state. */
  readonly collapseCr: boolean;
  /** Text for the marker: how to read the omitted part. */
  readonly hint: string;
}

/** An output as a client receives it. */
export interface RenderedOutput {
  readonly text: string;
  /** Whether a part was omitted because of its size. */
  readonly truncated: boolean;
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

function decode(bytes: Uint8Array, options: RenderOptions): string {
  if (bytes.length === 0) return '';
  const text = decoder.decode(bytes);
  const collapsed = options.collapseCr ? collapseCr(text) : text;
  return options.stripAnsi ? stripAnsi(collapsed) : collapsed;
}

/** What is kept of an output that is not returned whole. */
interface KeptParts {
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  /** Whether the tail begins inside a line. */
  readonly cutsTail: boolean;
}

/**
 * The beginning and the end of one output stream, in constant memory, and its exact size. Characters are Unicode code
 * points as the WHATWG UTF-8 decoder returns them: invalid bytes count as the U+FFFD they become, a byte order mark is
 * kept. Memory grows with the output, up to about `4 * (maxSize + endSize)` bytes.
 */
export class OutputWindow {
  readonly #limits: OutputLimits;
  readonly #window: ByteWindow;
  readonly #counter: Utf8Counter;
  readonly #clipper: LineClipper | undefined;
  /** Characters after clipping. */
  readonly #clippedCounter: Utf8Counter;
  readonly #countsLines: boolean;
  #lineFeeds = 0;
  #endsLine = true;
  #bytes = 0;

  constructor(limits: OutputLimits, scanner: ByteScanner) {
    this.#limits = limits;
    this.#counter = new Utf8Counter(scanner);
    this.#clipper = limits.maxLineLength === undefined ? undefined : new LineClipper(limits.maxLineLength);
    this.#clippedCounter = this.#clipper ? new Utf8Counter(scanner) : this.#counter;
    this.#countsLines = limits.lines !== undefined || this.#clipper !== undefined;
    // Besides the characters, the window keeps enough bytes to detect whether a cut falls inside a sequence.
    const { maxSize, endSize } = limits;
    this.#window = new ByteWindow({
      headBytes: maxSize * MAX_BYTES_PER_CHARACTER + MAX_SEQUENCE_BYTES,
      tailBytes: endSize === 0 ? 0 : endSize * MAX_BYTES_PER_CHARACTER + MAX_SEQUENCE_BYTES,
    });
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Characters so far; an incomplete character counts as the U+FFFD it would become. */
  get characters(): number {
    return this.#counter.characters;
  }

  /** Lines so far; a last one without its end counts. Undefined without limits on lines: counting them costs time. */
  get lines(): number | undefined {
    return this.#countsLines ? this.#lineFeeds + (this.#endsLine ? 0 : 1) : undefined;
  }

  /** Whether invalid UTF-8, including an incomplete character at the end, is shown as U+FFFD. */
  get lossy(): boolean {
    return this.#counter.lossy;
  }

  /** Appends the next bytes of the stream; copies the bytes that it keeps. */
  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    this.#counter.push(chunk);
    if (this.#countsLines && chunk.length > 0) {
      this.#lineFeeds += countLineFeeds(chunk);
      this.#endsLine = chunk[chunk.length - 1] === LINE_FEED;
    }
    if (!this.#clipper) {
      this.#window.push(chunk);
      return;
    }
    this.#clipper.push(chunk, (kept) => {
      this.#clippedCounter.push(kept);
      this.#window.push(kept);
    });
  }

  /**
   * The output so far: whole up to the limits, else its beginning and end with a marker line between them that gives the
   * number of omitted characters, or lines, and the total. A cut never splits a character or an escape sequence (of up
   * to 256 characters); the split one is omitted. May be called at any time and repeatedly.
   */
  render(options: RenderOptions): RenderedOutput {
    const isBase64 = options.encoding === 'base64';
    const isTooLong = this.#clippedCounter.characters > this.#limits.maxSize;
    if (!isTooLong && !this.#hasTooManyLines) {
      const whole = this.#window.head();
      const truncated = this.#clipper !== undefined && this.#clipper.clipped > 0;
      return { text: isBase64 ? base64(whole) : decode(whole, options), truncated };
    }
    const parts = isTooLong ? this.#partsBySize() : this.#partsByLines();
    const marker = this.#marker(parts, options.hint);
    if (isBase64) return { text: joinAsBase64(parts.head, marker, parts.tail), truncated: true };
    const begin = decode(parts.head, options);
    const breaksLine = begin !== '' && !begin.endsWith('\n');
    return { text: `${begin}${breaksLine ? '\n' : ''}${marker}${decode(parts.tail, options)}`, truncated: true };
  }

  get #hasTooManyLines(): boolean {
    const { lines } = this.#limits;
    return lines !== undefined && (this.lines ?? 0) > lines.maxLines;
  }

  #marker({ head, tail, cutsTail }: KeptParts, hint: string): string {
    const { lines: total, characters } = this;
    if (total === undefined) {
      const leftOut = characters - countCharacters(head) - countCharacters(tail);
      return sizeMarker(leftOut, characters, hint);
    }
    const cutsHead = head.length > 0 && head[head.length - 1] !== LINE_FEED;
    return lineMarker({ shown: countLines(head) + countLines(tail), total, cutsHead, cutsTail }, hint);
  }

  /** Lines of an output of which the window has all. */
  #partsByLines(): KeptParts {
    const { beginLines, endLines } = this.#limits.lines ?? { beginLines: 0, endLines: 0 };
    const bytes = this.#window.head();
    return {
      head: bytes.subarray(0, endOfFirstLines(bytes, beginLines)),
      tail: bytes.subarray(startOfLastLines(bytes, endLines)),
      cutsTail: false,
    };
  }

  /** As many characters as fit, and at most as many lines. */
  #partsBySize(): KeptParts {
    const { lines } = this.#limits;
    const { tail, cutsTail } = this.#tailBySize();
    const head = this.#headBySize();
    if (!lines) return { head, tail, cutsTail };
    const start = startOfLastLines(tail, lines.endLines);
    return {
      head: head.subarray(0, endOfFirstLines(head, lines.beginLines)),
      tail: tail.subarray(start),
      cutsTail: cutsTail && start === 0 && tail.length > 0,
    };
  }

  #headBySize(): Uint8Array {
    const bytes = this.#window.head();
    const cut = characterOffset(bytes, this.#limits.beginSize);
    return bytes.subarray(0, sequenceAround(bytes, cut)?.start ?? cut);
  }

  /**
   * The kept bytes may begin inside a character. Its rest counts differently, but before the cut and equally in both
   * numbers.
   */
  #tailBySize(): Omit<KeptParts, 'head'> {
    const bytes = this.#window.tail();
    const cut = characterOffset(bytes, countCharacters(bytes) - this.#limits.endSize);
    const start = sequenceAround(bytes, cut)?.end ?? cut;
    return { tail: bytes.subarray(start), cutsTail: start > 0 && bytes[start - 1] !== LINE_FEED };
  }
}

/**
 * The unfinished line at the end of an output, such as the prompt of a program that waits for input, as a terminal
 * shows it: without escape sequences, limited to the last `maxCharacters` code points. Empty after a line feed.
 */
export function lastLine(text: string, maxCharacters: number): string {
  const shown = stripAnsi(collapseCr(text.slice(text.lastIndexOf('\n') + 1)));
  if (shown.length <= maxCharacters) return shown;
  // A character has at most two code units, so the result lies within this many.
  const characters = Array.from(shown.slice(Math.max(0, shown.length - 2 * maxCharacters)));
  return characters.slice(Math.max(0, characters.length - maxCharacters)).join('');
}
