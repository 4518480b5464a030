import type { OutputStreamName } from '../../core/protocol/fields.js';
import { byteLength } from '../runtime/bytes.js';

/** A piece of a command's output. */
export interface OutputChunk {
  readonly stream: OutputStreamName;
  /** Text, never cut inside a character; bytes where they are not UTF-8. */
  readonly data: string | Uint8Array;
  /** Position of its first byte in the stream. */
  readonly offset: number;
}

/** Bytes that exist and have to be fetched, from `offset` up to `end`. */
export interface Hole {
  readonly stream: OutputStreamName;
  offset: number;
  end: number;
}

/** What comes next for the reader. */
export type QueueEntry =
  | { readonly kind: 'chunk'; readonly chunk: OutputChunk; readonly cost: number }
  | { readonly kind: 'hole'; readonly hole: Hole };

/** What a chunk costs beside its data, in bytes: a program that writes single bytes must not fill the memory either. */
const CHUNK_OVERHEAD_BYTES = 100;
/** Entries that were read are dropped from the front of the array in batches of at least this many. */
const COMPACT_ENTRIES = 512;

interface StreamState {
  /** Everything before this has been delivered, is queued, or lies in a queued hole. */
  end: number;
  /** Size of the whole stream, once the command has ended. */
  size: number | undefined;
  /** The hole behind which nothing of this stream is queued: it can grow. */
  lastHole: Hole | undefined;
}

const emptyStream = (): StreamState => ({ end: 0, size: undefined, lastHole: undefined });

/**
 * Puts the pieces of a command's two outputs in order. They come with their offsets, some twice, some never; what comes
 * out are chunks and holes that together are each stream exactly once, in the order of arrival. It holds on to a bounded
 * number of bytes: beyond that, data is let go of and becomes a hole, to be fetched when the reader gets there.
 */
export class OutputQueue {
  readonly #maxBytes: number;
  readonly #streams: Readonly<Record<OutputStreamName, StreamState>> = { stdout: emptyStream(), stderr: emptyStream() };
  #entries: QueueEntry[] = [];
  #head = 0;
  #bufferedBytes = 0;
  #isClosed = false;

  /** @param maxBytes what the queued chunks may cost together */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** What the queued chunks cost, in bytes. */
  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  /** The next entry; undefined when there is none, or none yet. */
  get first(): QueueEntry | undefined {
    return this.#entries[this.#head];
  }

  /** Whether the command has ended and all its output has been read. */
  get isDone(): boolean {
    return this.first === undefined && this.#streams.stdout.size !== undefined;
  }

  /** Position in a stream up to which nothing is needed any more. */
  endOf(stream: OutputStreamName): number {
    return this.#streams[stream].end;
  }

  /** Takes a piece, from wherever it comes. */
  push({ stream, offset, data }: OutputChunk): void {
    const state = this.#streams[stream];
    const size = byteLength(data);
    const end = offset + size;
    const isPastEnd = state.size !== undefined && end > state.size;
    if (size === 0 || end <= state.end || isPastEnd || this.#isClosed) return;
    const cost = size + CHUNK_OVERHEAD_BYTES;
    const isWanted = offset >= state.end && this.#bufferedBytes + cost <= this.#maxBytes;
    // A piece of which a part is there already is fetched from that part on, instead of cutting it.
    this.#reach(stream, isWanted ? offset : end);
    if (!isWanted) return;
    state.end = end;
    state.lastHole = undefined;
    this.#bufferedBytes += cost;
    this.#entries.push({ kind: 'chunk', chunk: { stream, offset, data }, cost });
  }

  /** Takes the final sizes of the streams: what has not come by now is fetched. */
  finish(sizes: Readonly<Record<OutputStreamName, number>>): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      this.#streams[stream].size = sizes[stream];
      this.#reach(stream, sizes[stream]);
    }
  }

  /** Takes out the chunk at the front. */
  takeChunk(): void {
    const entry = this.first;
    if (entry?.kind !== 'chunk') return;
    this.#bufferedBytes -= entry.cost;
    this.#shift();
  }

  /** Takes note that the hole at the front has been filled up to a position. */
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

  /** Nobody reads any more: lets go of everything and takes nothing. */
  close(): void {
    this.#isClosed = true;
    this.#entries = [];
    this.#head = 0;
    this.#bufferedBytes = 0;
  }

  /** Makes what lies between the end of a stream and a position a hole. */
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
