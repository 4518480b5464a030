import type { OutputStreamName } from '../core/protocol/fields.js';
import { byteLength } from './runtime.js';

/** A piece of a command's output. */
export interface OutputChunk {
  readonly stream: OutputStreamName;
  /** Text, never cut inside a character; bytes if they are not UTF-8. */
  readonly data: string | Uint8Array;
  /** Position of its first byte in the stream. */
  readonly offset: number;
}

/** Bytes that exist and have to be fetched, from `offset` up to `end`, exclusive. */
export interface Hole {
  readonly stream: OutputStreamName;
  offset: number;
  end: number;
}

/** The next item for the reader. */
type QueueEntry =
  | { readonly kind: 'chunk'; readonly chunk: OutputChunk; readonly cost: number }
  | { readonly kind: 'hole'; readonly hole: Hole };

/** Accounted size of a chunk besides its data, in bytes: limits the memory of a program that writes single bytes. */
const CHUNK_OVERHEAD_BYTES = 100;
/** Entries that were read are dropped from the front of the array in batches of at least this many. */
const COMPACT_ENTRIES = 512;

interface StreamState {
  /** Everything before this position has been delivered, is queued, or is part of a queued hole. */
  end: number;
  /** Size of the whole stream, once the command has ended. */
  size: number | undefined;
  /** A hole that can still grow, because nothing of this stream is queued behind it. */
  lastHole: Hole | undefined;
}

const emptyStream = (): StreamState => ({ end: 0, size: undefined, lastHole: undefined });

/**
 * Puts the pieces of a command's two outputs in order. Pieces have offsets; some arrive twice, some never. The queue
 * yields chunks and holes that together cover each stream exactly once, in the order of arrival. It buffers a bounded
 * number of bytes: data beyond that is dropped and becomes a hole, which is fetched when the reader reaches it.
 */
export class OutputQueue {
  readonly #maxBytes: number;
  readonly #streams: Readonly<Record<OutputStreamName, StreamState>> = { stdout: emptyStream(), stderr: emptyStream() };
  #entries: QueueEntry[] = [];
  #head = 0;
  #bufferedBytes = 0;
  #isClosed = false;

  /** @param maxBytes accounted size of all queued chunks */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Accounted size of the queued chunks, in bytes. */
  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  /** The next entry; undefined while there is none. */
  get first(): QueueEntry | undefined {
    return this.#entries[this.#head];
  }

  /** Whether the command has ended and all its output has been read. */
  get isDone(): boolean {
    return this.first === undefined && this.#streams.stdout.size !== undefined;
  }

  /** Position in a stream up to which all data is known. */
  endOf(stream: OutputStreamName): number {
    return this.#streams[stream].end;
  }

  /** Adds a piece from an event or a fetch. */
  push({ stream, offset, data }: OutputChunk): void {
    const state = this.#streams[stream];
    const size = byteLength(data);
    const end = offset + size;
    const isPastEnd = state.size !== undefined && end > state.size;
    if (size === 0 || end <= state.end || isPastEnd || this.#isClosed) return;
    const cost = size + CHUNK_OVERHEAD_BYTES;
    const isWanted = offset >= state.end && this.#bufferedBytes + cost <= this.#maxBytes;
    // If a part of the piece is known already, the rest becomes a hole and is fetched, instead of cutting the piece.
    this.#reach(stream, isWanted ? offset : end);
    if (!isWanted) return;
    state.end = end;
    state.lastHole = undefined;
    this.#bufferedBytes += cost;
    this.#entries.push({ kind: 'chunk', chunk: { stream, offset, data }, cost });
  }

  /** Sets the final sizes of the streams: data that is missing now is fetched. */
  finish(sizes: Readonly<Record<OutputStreamName, number>>): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      this.#streams[stream].size = sizes[stream];
      this.#reach(stream, sizes[stream]);
    }
  }

  /** Removes the chunk at the front. */
  takeChunk(): void {
    const entry = this.first;
    if (entry?.kind !== 'chunk') return;
    this.#bufferedBytes -= entry.cost;
    this.#shift();
  }

  /** Records that the hole at the front has been filled up to a position. */
  fillHole(end: number): void {
    const entry = this.first;
    if (entry?.kind !== 'hole') return;
    const { hole } = entry;
    hole.offset = end;
    if (hole.offset < hole.end) return;
    const state = this.#streams[hole.stream];
    if (state.lastHole === hole) state.lastHole = undefined;
    this.#shift();
  }

  /** Drops all data and ignores further pieces, because the reader has stopped. */
  close(): void {
    this.#isClosed = true;
    this.#entries = [];
    this.#head = 0;
    this.#bufferedBytes = 0;
  }

  /** Covers the range from the end of a stream to a position with a hole. */
  #reach(stream: OutputStreamName, position: number): void {
    const state = this.#streams[stream];
    if (position <= state.end || this.#isClosed) return;
    if (state.lastHole) {
      state.lastHole.end = position;
    } else {
      state.lastHole = { stream, offset: state.end, end: position };
      this.#entries.push({ kind: 'hole', hole: state.lastHole });
    }
    state.end = position;
  }

  #shift(): void {
    this.#head += 1;
    if (this.#head < COMPACT_ENTRIES || this.#head * 2 < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#head);
    this.#head = 0;
  }
}
