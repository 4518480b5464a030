import { isAscii, isUtf8 } from 'node:buffer';

import {
  lastLine,
  type OutputLimits,
  OutputWindow,
  type RenderedOutput,
  type RenderOptions,
} from '../../core/output/output-window.js';
import { type Piece, Utf8Chunker } from '../../core/output/utf8.js';
import { OutputMask } from './output-mask.js';
import { Spool, type SpoolBudget } from './spool.js';

/** Bytes at the end of an output that are searched for its unfinished last line. */
const LAST_LINE_BYTES = 400;
/** Longest prompt that is reported, in characters. */
const MAX_PROMPT_CHARACTERS = 200;

/** Passes bytes unchanged, for followers that need them exactly. */
class ByteChunker {
  #offset = 0;

  push(chunk: Uint8Array): Piece[] {
    const offset = this.#offset;
    this.#offset += chunk.length;
    return chunk.length === 0 ? [] : [{ offset, data: Buffer.from(chunk) }];
  }

  flush(): Piece[] {
    return [];
  }
}

/** Receives the output in pieces, cut between characters. */
export type PieceListener = (piece: Piece) => void;

/** Where an output is kept, counted and masked. */
export interface OutputStreamOptions {
  readonly spoolDirectory: string;
  readonly budget: SpoolBudget;
  /**
   * Masked before any other processing: all sizes refer to the masked output. See `patternsOf`.
   * @default none
   */
  readonly secrets?: readonly string[];
}

/**
 * One output of one command: its head and tail for the result, its spool for later reads, its pieces for a follower.
 */
export class OutputStream {
  readonly #limits: OutputLimits;
  readonly #spoolDirectory: string;
  readonly #budget: SpoolBudget;
  /** Created with the first output: most commands print nothing on stderr. */
  #window: OutputWindow | undefined;
  #spool: Spool | undefined;
  #hasEnded = false;
  #lastBytes: Buffer | undefined;
  #chunker: Utf8Chunker | ByteChunker | undefined;
  #onPiece: PieceListener | undefined;
  #tap: ((chunk: Buffer) => void) | undefined;
  /** Called after each chunk; undefined while nothing waits for output. */
  #growthListeners: Set<() => void> | undefined;
  /** Position in the stream where the follower began. */
  #followedFrom = 0;
  readonly #countBytes: (bytes: number) => void;
  readonly #mask: OutputMask | undefined;

  /** @param countBytes called with the number of bytes of each chunk */
  constructor(limits: OutputLimits, options: OutputStreamOptions, countBytes: (bytes: number) => void) {
    const { spoolDirectory, budget, secrets = [] } = options;
    this.#mask = secrets.length > 0 ? new OutputMask(secrets) : undefined;
    this.#countBytes = countBytes;
    this.#limits = limits;
    this.#spoolDirectory = spoolDirectory;
    this.#budget = budget;
  }

  get bytes(): number {
    return this.#window?.bytes ?? 0;
  }

  get characters(): number {
    return this.#window?.characters ?? 0;
  }

  /** Lines so far; undefined without limits on lines. */
  get lines(): number | undefined {
    const { lines, maxLineLength } = this.#limits;
    return this.#window ? this.#window.lines : lines === undefined && maxLineLength === undefined ? undefined : 0;
  }

  /** Whether some bytes were not UTF-8. */
  get lossy(): boolean {
    return this.#window?.lossy ?? false;
  }

  /** Approximate memory use of the output, in bytes. */
  get memoryBytes(): number {
    const { maxSize, endSize } = this.#limits;
    const kept = Math.min(this.bytes, maxSize + endSize);
    return (this.#spool?.memoryBytes ?? 0) + kept + (this.#lastBytes?.length ?? 0);
  }

  get spool(): Spool {
    if (!this.#spool) {
      this.#spool = new Spool(this.#spoolDirectory, this.#budget);
      if (this.#hasEnded) this.#spool.end();
    }
    return this.#spool;
  }

  get spoolError(): string | undefined {
    return this.#spool?.error;
  }

  /** Waits until the spool is written; undefined when there is nothing to wait for. */
  flush(): Promise<void> | undefined {
    return this.#spool?.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#spool?.[Symbol.asyncDispose]();
  }

  /** Whether a follower receives the pieces. */
  get isFollowed(): boolean {
    return this.#chunker !== undefined;
  }

  /** Passes later output to `onPiece`, with offsets from the beginning of the stream. */
  follow(encoding: 'utf8' | 'base64', onPiece: PieceListener): void {
    this.#chunker = encoding === 'utf8' ? new Utf8Chunker() : new ByteChunker();
    this.#followedFrom = this.bytes;
    this.#onPiece = onPiece;
  }

  /** Passes a recording the later output, as bytes that are valid during the call. */
  tap(onChunk: (chunk: Buffer) => void): void {
    this.#tap = onChunk;
  }

  /**
   * Calls `listener` after each chunk that is kept from now on.
   * @returns a function that ends this
   */
  onGrowth(listener: () => void): () => void {
    this.#growthListeners ??= new Set();
    this.#growthListeners.add(listener);
    return () => {
      this.#growthListeners?.delete(listener);
      if (this.#growthListeners?.size === 0) this.#growthListeners = undefined;
    };
  }

  /** Appends a copy of the chunk. */
  write(chunk: Buffer): void {
    this.#take(this.#mask ? this.#mask.push(chunk) : chunk);
  }

  /** Notes the end of the command, and flushes what the follower's decoder held back. */
  end(): void {
    if (this.#mask) this.#take(this.#mask.flush());
    this.#hasEnded = true;
    this.#spool?.end();
    if (this.#chunker) this.#emit(this.#chunker.flush());
  }

  render(options: RenderOptions): RenderedOutput {
    return this.#window?.render(options) ?? { text: '', truncated: false };
  }

  /** Returns the unfinished last line: a prompt has this form. */
  prompt(): string {
    return lastLine(this.#lastBytes?.toString() ?? '', MAX_PROMPT_CHARACTERS);
  }

  #take(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#countBytes(chunk.length);
    this.#window ??= new OutputWindow(this.#limits, { isAscii, isUtf8 });
    this.#window.push(chunk);
    this.spool.write(chunk);
    this.#lastBytes = Buffer.from(chunk.subarray(-LAST_LINE_BYTES));
    this.#tap?.(chunk);
    if (this.#chunker) this.#emit(this.#chunker.push(chunk));
    if (this.#growthListeners) for (const listener of this.#growthListeners) listener();
  }

  #emit(pieces: readonly Piece[]): void {
    for (const { offset, data } of pieces) this.#onPiece?.({ offset: offset + this.#followedFrom, data });
  }
}
