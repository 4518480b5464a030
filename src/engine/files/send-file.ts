import { createHash } from 'node:crypto';

import { AdapterError } from '../../core/errors.js';
import type { OnDigest, SentFile, Target } from './file-job.js';
import type { HoldPath } from './held-path.js';
import { eachPiece, type OpenFile, openFile, readRange, versionOf } from './open-file.js';

/** Size of the pieces in which a file is sent, in bytes. */
const SENT_PIECE_BYTES = 256 * 1024;

/** Opens a file to send it. */
export async function openToSend(at: Target, holdPath: HoldPath): Promise<SentFile> {
  await using held = await holdPath(at);
  const file = await openFile(held.entry, at.path);
  const { size, mtimeMs } = file.stat;
  return {
    size,
    mtimeMs,
    version: versionOf(file.stat),
    read: (offset, length, onDigest) => {
      const pieces = readPieces(file, at.path, offset, length);
      return onDigest ? hashed(file, pieces, offset, onDigest) : pieces;
    },
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  };
}

/** Reads a range; the next piece is read while one is sent. */
async function* readPieces(
  { handle }: OpenFile,
  path: string,
  offset: number,
  length: number,
): AsyncGenerator<Uint8Array> {
  const end = offset + length;
  const readAt = (from: number) => readRange(handle, from, Math.min(SENT_PIECE_BYTES, end - from));
  let next = readAt(offset);
  for (let at = offset; at < end;) {
    const piece = await next;
    if (piece.length === 0) throw becameShorter(path);
    at += piece.length;
    if (at < end) {
      next = readAt(at);
      // It is awaited in the next step, if there is one.
      next.catch(() => undefined);
    }
    yield piece;
  }
}

/** Pieces that end with their file, whose SHA-256 is given at the end. */
async function* hashed(
  { handle, stat }: OpenFile,
  pieces: AsyncIterable<Uint8Array>,
  offset: number,
  onDigest: OnDigest,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for await (const piece of eachPiece(handle, offset)) hash.update(piece);
  for await (const piece of pieces) {
    hash.update(piece);
    yield piece;
  }
  const isSame = versionOf(await handle.stat()) === versionOf(stat);
  onDigest(isSame ? hash.digest('hex') : undefined);
}

/** The error for a file that ends before a range that it had. */
export const becameShorter = (path: string): AdapterError =>
  new AdapterError('FILE_CHANGED', `${path} has become shorter while it was sent`, { details: { path } });
