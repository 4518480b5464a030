import { AdapterError, type ErrorBody } from '../../core/errors.js';
import type { FileJob, FileJobOf, FileResult, SentFile, Target, WatchJob } from './file-job.js';

/**
 * First line of the program's standard input, as JSON. After a `job`, its content follows, of `length` bytes, and then the line of the next
 * job, until the input ends; after `receive`, in frames, with `digest` followed by the line of the SHA-256. After `send`, the range follows as another line, once the reply was read. After
 * `watch`, the batches are lines of the output, until the input ends.
 */
export type FileWorkRequest =
  | FileJobRequest
  | { readonly receive: FileJobOf<'write'>; readonly digest?: boolean }
  | { readonly send: Target }
  | { readonly watch: WatchJob };

/** A job, of which the content follows. */
export interface FileJobRequest {
  readonly job: FileJob;
  readonly length: number;
}

/** The range of a file that is sent, as JSON. With `digest`, a line with the SHA-256 of the whole file follows it. */
export interface SentRange {
  readonly offset: number;
  readonly length: number;
  readonly digest?: boolean;
}

/** Facts about a file that is sent. */
type SentFacts = Pick<SentFile, 'size' | 'mtimeMs' | 'version'>;

/** First line of its standard output, as JSON; the data of a result, of `length` bytes, or of a range, follows. */
export type FileWorkReply =
  | { readonly result: FileResult; readonly length: number }
  | { readonly sent: SentFacts }
  | { readonly watching: true }
  | { readonly error: ErrorBody };

/** A first line. */
export const headLine = (head: object): Buffer => Buffer.from(`${JSON.stringify(head)}\n`);

/** Joins a first line and what follows. */
export const joinMessage = (head: object, rest: Uint8Array): readonly [Buffer, Uint8Array] => [headLine(head), rest];

const LINE_FEED = 10;
const NOTHING = Buffer.alloc(0);

/** Reads a stream of bytes by lines and by lengths. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #ahead: Buffer = NOTHING;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** The next line, without its end; undefined when the stream ends before. */
  async line(): Promise<string | undefined> {
    for (let searched = 0; ;) {
      const end = this.#ahead.indexOf(LINE_FEED, searched);
      if (end !== -1) return this.#take(end + 1).toString('utf8', 0, end);
      searched = this.#ahead.length;
      if (!(await this.#more())) return undefined;
    }
  }

  /** Bytes of this number; undefined when the stream ends before. */
  async exactly(length: number): Promise<Buffer | undefined> {
    while (this.#ahead.length < length) {
      if (!(await this.#more())) return undefined;
    }
    return this.#take(length);
  }

  /** The next bytes, at most this number; undefined at the end of the stream. */
  async upTo(length: number): Promise<Buffer | undefined> {
    if (this.#ahead.length === 0 && !(await this.#more())) return undefined;
    return this.#take(Math.min(length, this.#ahead.length));
  }

  /** All bytes to the end of the stream, at most this number. */
  async rest(maxBytes = Infinity): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let left = maxBytes; left > 0;) {
      const piece = await this.upTo(left);
      if (!piece) break;
      left -= piece.length;
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }

  #take(length: number): Buffer {
    const taken = this.#ahead.subarray(0, length);
    this.#ahead = this.#ahead.subarray(length);
    return taken;
  }

  async #more(): Promise<boolean> {
    const { value, done } = (await this.#source.next()) as IteratorResult<Uint8Array, undefined>;
    if (done === true) return false;
    const piece = Buffer.from(value.buffer, value.byteOffset, value.length);
    this.#ahead = this.#ahead.length === 0 ? piece : Buffer.concat([this.#ahead, piece]);
    return true;
  }
}

/** Bytes of the length that begins a frame. */
const LENGTH_BYTES = 4;

/** Ends a content: without it, the content was broken off. */
export const LAST_FRAME: Buffer = Buffer.alloc(LENGTH_BYTES);

/** A piece of a content, with its length before it. */
export function frameOf(piece: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + piece.length);
  frame.writeUInt32BE(piece.length);
  frame.set(piece, LENGTH_BYTES);
  return frame;
}

/**
 * The content in frames.
 * @throws AdapterError FILE_FAILED for one that was broken off
 */
export async function* contentIn(reader: ByteReader): AsyncGenerator<Buffer> {
  for (let left = await frameLength(reader); left > 0; left = await frameLength(reader)) {
    while (left > 0) {
      const piece = whole(await reader.upTo(left));
      left -= piece.length;
      yield piece;
    }
  }
}

const frameLength = async (reader: ByteReader): Promise<number> =>
  whole(await reader.exactly(LENGTH_BYTES)).readUInt32BE();

function whole(piece: Buffer | undefined): Buffer {
  if (piece) return piece;
  throw new AdapterError('FILE_FAILED', 'the content was broken off', { details: { errno: null } });
}
