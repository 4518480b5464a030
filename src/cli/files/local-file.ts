import type { Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

import { eachPiece, readRange } from '../../engine/files/open-file.js';

/** Adds the first bytes of a file to a hash. */
export async function hashBeginning(handle: FileHandle, length: number, hash: Hash): Promise<void> {
  for await (const piece of eachPiece(handle, length)) hash.update(piece);
}

/** Reads a file to its end; the next piece is read while one is used. */
export async function* piecesFrom(handle: FileHandle, offset: number): AsyncGenerator<Buffer> {
  let next = readRange(handle, offset, PIECE_BYTES);
  for (let at = offset; ;) {
    const piece = await next;
    if (piece.length === 0) return;
    at += piece.length;
    next = readRange(handle, at, PIECE_BYTES);
    // It is awaited in the next step, if there is one.
    next.catch(() => undefined);
    yield piece;
  }
}

/** Size of the pieces in which a file is read, in bytes. */
const PIECE_BYTES = 512 * 1024;

/** The value of `Repr-Digest`. Source: RFC 9530. */
export const digestField = (hash: Hash): string => `sha-256=:${hash.digest('base64')}:`;
