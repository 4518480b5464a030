import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { AdapterError } from '../../core/errors.js';

/** Content of a file: at once, or piece by piece. */
export type Content = Uint8Array | AsyncIterable<Uint8Array>;

/** Bytes that are gathered while others are written: larger ones are no faster. */
const AHEAD_BYTES = 1024 * 1024;

/** SHA-256 of a whole file, as hexadecimal digits: known before its content, or only after it. */
export type Digest = string | undefined | (() => Promise<string | undefined>);

/** Checks a content by its SHA-256, if there is one. */
export class ContentCheck {
  readonly #wanted: Digest;
  readonly #hash;

  constructor(wanted: Digest) {
    this.#wanted = wanted;
    this.#hash = wanted === undefined ? undefined : createHash('sha256');
  }

  /** Whether there may be a SHA-256 to check. */
  get isWanted(): boolean {
    return this.#hash !== undefined;
  }

  /** Adds the next bytes of the content. */
  readonly add = (chunk: Uint8Array): void => {
    this.#hash?.update(chunk);
  };

  /** @throws AdapterError INVALID_REQUEST for another SHA-256 */
  async assert(): Promise<void> {
    const wanted = typeof this.#wanted === 'function' ? await this.#wanted() : this.#wanted;
    const found = this.#hash?.digest('hex');
    if (wanted === undefined || found === wanted) return;
    const message = `the content has the SHA-256 ${String(found)}, not ${wanted}: nothing was changed; send it again`;
    throw new AdapterError('INVALID_REQUEST', message, { details: { sha256: found } });
  }
}

/**
 * Writes content.
 * @param onChunk gets all bytes in order
 * @param position in bytes; by default where the last write has ended, or where the file ends if it is open to append
 * @throws system errors, and the error of the content
 */
export async function writeContent(
  handle: FileHandle,
  content: Content,
  onChunk: (chunk: Uint8Array) => void,
  position?: number,
): Promise<void> {
  if (content instanceof Uint8Array) {
    onChunk(content);
    await writeAll(handle, content, position);
    return;
  }
  await pipeline(content, new HandleWriter(handle, onChunk, position));
}

/** Writes to a file that stays open; pieces that come meanwhile are written together. */
class HandleWriter extends Writable {
  readonly #handle: FileHandle;
  readonly #onChunk: (chunk: Uint8Array) => void;
  #position: number | undefined;

  constructor(handle: FileHandle, onChunk: (chunk: Uint8Array) => void, position: number | undefined) {
    super({ highWaterMark: AHEAD_BYTES });
    this.#handle = handle;
    this.#onChunk = onChunk;
    this.#position = position;
  }

  override _write(chunk: Buffer, _encoding: unknown, done: (error?: Error | null) => void): void {
    this.#onChunk(chunk);
    settle(writeAll(this.#handle, chunk, this.#advance(chunk.length)), done);
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    const pieces = chunks.map(({ chunk }) => chunk);
    for (const piece of pieces) this.#onChunk(piece);
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    settle(writeTogether(this.#handle, pieces, bytes, this.#advance(bytes)), done);
  }

  /** The position of the next bytes. */
  #advance(bytes: number): number | undefined {
    const position = this.#position;
    if (position !== undefined) this.#position = position + bytes;
    return position;
  }
}

function settle(work: Promise<void>, done: (error?: Error | null) => void): void {
  work.then(() => {
    done();
  }, done);
}

async function writeTogether(
  handle: FileHandle,
  pieces: readonly Buffer[],
  bytes: number,
  position: number | undefined,
): Promise<void> {
  const { bytesWritten } = await handle.writev(pieces, position);
  if (bytesWritten === bytes) return;
  const rest = Buffer.concat(pieces).subarray(bytesWritten);
  await writeAll(handle, rest, position === undefined ? undefined : position + bytesWritten);
}

async function writeAll(handle: FileHandle, content: Uint8Array, position: number | undefined): Promise<void> {
  for (let written = 0; written < content.length;) {
    const at = position === undefined ? null : position + written;
    written += (await handle.write(content, written, content.length - written, at)).bytesWritten;
  }
}
