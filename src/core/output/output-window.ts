import { MAX_SEQUENCE_BYTES, sequenceAround, stripAnsi } from './ansi.js';
import { base64 } from './base64.js';
import { ByteWindow } from './byte-window.js';
import { collapseCr } from './collapse-cr.js';
import { LineClipper } from './line-clipper.js';
import { countLineFeeds, countLines, endOfFirstLines, LINE_FEED, startOfLastLines } from './line-feeds.js';
import { joinAsBase64, lineMarker, sizeMarker } from './markers.js';
import { type ByteScanner, characterOffset, countCharacters, MAX_BYTES_PER_CHARACTER, Utf8Counter } from './utf8.js';

/** Number of lines of the returned output. The caller guarantees `beginLines + endLines <= maxLines`. */
export interface LineLimits {
  /** Longest output that is returned whole. */
  readonly maxLines: number;
  /** Lines at the beginning of a longer one. */
  readonly beginLines: number;
  /** Lines at its end. */
  readonly endLines: number;
}

/** Size of the returned output, in characters. The caller guarantees `beginSize + endSize <= maxSize`. */
export interface OutputLimits {
  /** Longest output that is returned whole. */
  readonly maxSize: number;
  /** Size of the beginning of a longer one. */
  readonly beginSize: number;
  /** Size of its end. */
  readonly endSize: number;
  /** @default any number of lines */
  readonly lines?: LineLimits | undefined;
  /**
   * Characters after which a line is cut and ends in `…`, before all else.
   * @default any length
   */
  readonly maxLineLength?: number | undefined;
}

/** Options for rendering an output. */
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

  /** Bytes so far. */
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
