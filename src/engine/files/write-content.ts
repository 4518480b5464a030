import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { AdapterError } from '../../core/errors.js';

/** Content of a file: at once, or piece by piece. */
export type Content = Uint8Array | AsyncIterable<Uint8Array>;

/** Bytes that are gathered while others are written: larger ones are no faster. */
const AHEAD_BYTES = 1024 * 1024;

/**
 * Writes content where the file ends, or where its last write has ended.
 * @param digest SHA-256 that it must have, as hexadecimal digits
 * @throws system errors, the error of the content, and AdapterError INVALID_REQUEST for another SHA-256
 */
export async function writeContent(handle: FileHandle, content: Content, digest: string | undefined): Promise<void> {
  if (content instanceof Uint8Array) {
    await writeAll(handle, content);
    return;
  }
  const hash = digest === undefined ? undefined : createHash('sha256');
  await pipeline(content, new HandleWriter(handle, (chunk) => hash?.update(chunk)));
  const found = hash?.digest('hex');
  if (found === digest) return;
  const message = `the content has the SHA-256 ${String(found)}, not ${String(digest)}: nothing was changed; send it again`;
  throw new AdapterError('INVALID_REQUEST', message, { details: { sha256: found } });
}

/** Writes to a file that stays open; pieces that come meanwhile are written together. */
class HandleWriter extends Writable {
  readonly #handle: FileHandle;
  readonly #onChunk: (chunk: Uint8Array) => void;

  constructor(handle: FileHandle, onChunk: (chunk: Uint8Array) => void) {
    super({ highWaterMark: AHEAD_BYTES });
    this.#handle = handle;
    this.#onChunk = onChunk;
  }

  override _write(chunk: Buffer, _encoding: unknown, done: (error?: Error | null) => void): void {
    this.#onChunk(chunk);
    settle(writeAll(this.#handle, chunk), done);
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    const pieces = chunks.map(({ chunk }) => chunk);
    for (const piece of pieces) this.#onChunk(piece);
    settle(writeTogether(this.#handle, pieces), done);
  }
}

function settle(work: Promise<void>, done: (error?: Error | null) => void): void {
  work.then(() => {
    done();
  }, done);
}

async function writeTogether(handle: FileHandle, pieces: readonly Buffer[]): Promise<void> {
  const { bytesWritten } = await handle.writev(pieces);
  const all = pieces.reduce((sum, { length }) => sum + length, 0);
  if (bytesWritten < all) await writeAll(handle, Buffer.concat(pieces).subarray(bytesWritten));
}

async function writeAll(handle: FileHandle, content: Uint8Array): Promise<void> {
  for (let written = 0; written < content.length;) {
    written += (await handle.write(content, written, content.length - written)).bytesWritten;
  }
}
