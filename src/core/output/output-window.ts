import { MAX_SEQUENCE_BYTES, sequenceAround, stripAnsi } from './ansi.js';
import { base64 } from './base64.js';
import { ByteWindow } from './byte-window.js';
import { collapseCr } from './collapse-cr.js';
import { type ByteScanner, characterOffset, countCharacters, MAX_BYTES_PER_CHARACTER, Utf8Counter } from './utf8.js';

/** Size of the returned output, in characters. The caller guarantees `beginSize + endSize <= maxSize`. */
export interface OutputLimits {
  /** Longest output that is returned whole. */
  readonly maxSize: number;
  /** Size of the beginning of a longer one. */
  readonly beginSize: number;
  /** Size of its end. */
  readonly endSize: number;
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

const LINE_FEED = 0x0a;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

const withThousands = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/gu, ',');

function markerLine(leftOut: number, total: number, hint: string): string {
  const counts = `${withThousands(leftOut)} of ${withThousands(total)} characters left out`;
  return `[... ${hint === '' ? counts : `${counts}; ${hint}`} ...]\n`;
}

function joinAsBase64(head: Uint8Array, marker: string, tail: Uint8Array): string {
  const breaksLine = head.length > 0 && head[head.length - 1] !== LINE_FEED;
  const middle = new TextEncoder().encode(breaksLine ? `\n${marker}` : marker);
  const joined = new Uint8Array(head.length + middle.length + tail.length);
  joined.set(head);
  joined.set(middle, head.length);
  joined.set(tail, head.length + middle.length);
  return base64(joined);
}

function decode(bytes: Uint8Array, options: RenderOptions): string {
  if (bytes.length === 0) return '';
  const text = decoder.decode(bytes);
  const collapsed = options.collapseCr ? collapseCr(text) : text;
  return options.stripAnsi ? stripAnsi(collapsed) : collapsed;
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

  constructor(limits: OutputLimits, scanner: ByteScanner) {
    this.#limits = limits;
    this.#counter = new Utf8Counter(scanner);
    // Besides the characters, the window keeps enough bytes to detect whether a cut falls inside a sequence.
    const { maxSize, endSize } = limits;
    this.#window = new ByteWindow({
      headBytes: maxSize * MAX_BYTES_PER_CHARACTER + MAX_SEQUENCE_BYTES,
      tailBytes: endSize === 0 ? 0 : endSize * MAX_BYTES_PER_CHARACTER + MAX_SEQUENCE_BYTES,
    });
  }

  /** Bytes so far. */
  get bytes(): number {
    return this.#window.total;
  }

  /** Characters so far; an incomplete character counts as the U+FFFD it would become. */
  get characters(): number {
    return this.#counter.characters;
  }

  /** Whether invalid UTF-8, including an incomplete character at the end, is shown as U+FFFD. */
  get lossy(): boolean {
    return this.#counter.lossy;
  }

  /** Appends the next bytes of the stream; copies the bytes that it keeps. */
  push(chunk: Uint8Array): void {
    this.#counter.push(chunk);
    this.#window.push(chunk);
  }

  /**
   * The output so far: whole up to `maxSize`, else its beginning and end with a marker line between them that gives the
   * number of omitted characters and the total. A cut never splits a character or an escape sequence (of up to 256
   * characters); the split one is omitted. May be called at any time and repeatedly.
   */
  render(options: RenderOptions): RenderedOutput {
    const isBase64 = options.encoding === 'base64';
    if (this.characters <= this.#limits.maxSize) {
      const whole = this.#window.head();
      return { text: isBase64 ? base64(whole) : decode(whole, options), truncated: false };
    }
    const head = this.#keptHead();
    const tail = this.#keptTail();
    const leftOut = this.characters - countCharacters(head) - countCharacters(tail);
    const marker = markerLine(leftOut, this.characters, options.hint);
    if (isBase64) return { text: joinAsBase64(head, marker, tail), truncated: true };
    const begin = decode(head, options);
    const breaksLine = begin !== '' && !begin.endsWith('\n');
    return { text: `${begin}${breaksLine ? '\n' : ''}${marker}${decode(tail, options)}`, truncated: true };
  }

  #keptHead(): Uint8Array {
    const bytes = this.#window.head();
    const cut = characterOffset(bytes, this.#limits.beginSize);
    return bytes.subarray(0, sequenceAround(bytes, cut)?.start ?? cut);
  }

  /**
   * The kept bytes may begin inside a character. Its rest counts differently, but before the cut and equally in both
   * numbers.
   */
  #keptTail(): Uint8Array {
    const bytes = this.#window.tail();
    const cut = characterOffset(bytes, countCharacters(bytes) - this.#limits.endSize);
    return bytes.subarray(sequenceAround(bytes, cut)?.end ?? cut);
  }
}
