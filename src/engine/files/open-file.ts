import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

import { AdapterError } from '../../core/errors.js';
import { MAX_HASHED_BYTES } from '../../core/files/limits.js';
import type { Expected, FileState } from './file-job.js';
import { notAFile } from './file-errors.js';

const { O_RDONLY, O_WRONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;
/** A pipe would wait for its other end, and a terminal become that of the daemon. */
const SAFELY = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

/** Size of the pieces in which a file is read for its hash, in bytes. */
const PIECE_BYTES = 256 * 1024;

/** A file, open for reading. */
export interface OpenFile extends AsyncDisposable {
  readonly handle: FileHandle;
  readonly stat: Stats;
}

/**
 * Opens a regular file; anything else is refused without an effect on it.
 * @param path for messages
 * @throws AdapterError NOT_A_FILE; system errors
 */
export async function openFile(entry: string, path: string, way: 'read' | 'write' = 'read'): Promise<OpenFile> {
  const handle = await open(entry, (way === 'read' ? O_RDONLY : O_WRONLY) | SAFELY);
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw notAFile(path, stat.isDirectory());
    return { handle, stat, [Symbol.asyncDispose]: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Reads a range of a file; less if the file ends before. */
export async function readRange(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** SHA-256 of a whole file, as hexadecimal digits. */
export async function hashOf(handle: FileHandle): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of eachPiece(handle)) hash.update(piece);
  return hash.digest('hex');
}

/**
 * Reads a file from its beginning. Each piece is valid until the next one is asked for.
 * @param end where to stop
 * @default its end
 */
export async function* eachPiece(handle: FileHandle, end = Infinity): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  for (let at = 0; at < end;) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(PIECE_BYTES, end - at), at);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

/** SHA-256 of bytes, as hexadecimal digits. */
export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** The facts about a file; the hash only of one that is not too large. */
export async function stateOf({ handle, stat }: OpenFile): Promise<FileState> {
  const { size, mtimeMs } = stat;
  const sha256 = size > MAX_HASHED_BYTES ? undefined : await hashOf(handle);
  return { size, mtimeMs, version: versionOf(stat), sha256 };
}

/**
 * Tells the contents that a path has had apart without reading them: by inode, size, and time of the last change. A change
 * in place, of the same size and within one tick of the kernel's clock (4 ms), is not seen.
 */
export const versionOf = ({ ino, size, mtimeMs }: Pick<Stats, 'ino' | 'size' | 'mtimeMs'>): string =>
  [ino, size, Math.round(mtimeMs * MICROSECONDS)].map((part) => part.toString(RADIX)).join('-');

const MICROSECONDS = 1000;
const RADIX = 36;

/**
 * Checks that a file is what a request expects.
 * @param file undefined when there is none
 * @throws AdapterError FILE_CHANGED
 */
export async function assertExpected(file: OpenFile | undefined, expected: Expected, path: string): Promise<void> {
  const { size, sha256, ...others } = expected;
  if (!file) {
    if (expectsAnything({ ...others, sha256 }) || (size ?? 0) > 0) throw changedFile(path, undefined);
    return;
  }
  const isExpected =
    isVersion(file.stat, others) &&
    file.stat.size === (size ?? file.stat.size) &&
    (sha256 === undefined || sha256 === (await hashOf(file.handle)));
  if (!isExpected) throw changedFile(path, await stateOf(file));
}

function isVersion(stat: Stats, { versions = 'any', mtimeMs }: Expected): boolean {
  return stat.mtimeMs === (mtimeMs ?? stat.mtimeMs) && (versions === 'any' || versions.includes(versionOf(stat)));
}

/** Whether a request expects anything of the file. */
export const expectsAnything = (expected: Expected): boolean =>
  Object.values(expected).some((value) => value !== undefined);

/** The error for a file that is not what a request expects. */
export function changedFile(
  path: string,
  now: Partial<FileState> | undefined,
  what = now ? 'is not what the request expects' : 'does not exist any more',
): AdapterError {
  return new AdapterError('FILE_CHANGED', `${path} ${what}: nothing was changed; read it again`, {
    details: {
      path,
      sha256: now?.sha256 ?? null,
      mtime_ms: now?.mtimeMs ?? null,
      size: now?.size ?? null,
    },
  });
}
