import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

import { AdapterError } from '../../core/errors.js';
import { MAX_HASHED_BYTES } from '../../core/file-edit.js';
import type { Expected, FileJobOf, FileResult, FileState, OnDigest, SentFile, Target } from './file-job.js';
import { type HoldPath, notAFile } from './held-path.js';

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
const versionOf = ({ ino, size, mtimeMs }: Pick<Stats, 'ino' | 'size' | 'mtimeMs'>): string =>
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

/** Size of the pieces in which lines are searched, in bytes. */
const READ_BYTES = 64 * 1024;
const LINE_FEED = 10;

/** Reads a part of a file. */
export async function readPart(
  { at, offset, length }: FileJobOf<'read'>,
  holdPath: HoldPath,
): Promise<FileResult<'read'>> {
  await using held = await holdPath(at);
  await using file = await openFile(held.entry, at.path);
  const data = await readRange(file.handle, offset, Math.min(length, Math.max(0, file.stat.size - offset)));
  const isWhole = offset === 0 && data.length === file.stat.size;
  const state = isWhole
    ? {
        size: file.stat.size,
        mtimeMs: file.stat.mtimeMs,
        version: versionOf(file.stat),
        sha256: sha256Of(data),
      }
    : await stateOf(file);
  return { ...state, data, offset };
}

/** Reads lines of a file. */
export async function readLines(
  { at, from, count, maxBytes }: FileJobOf<'lines'>,
  holdPath: HoldPath,
): Promise<FileResult<'lines'>> {
  await using held = await holdPath(at);
  await using file = await openFile(held.entry, at.path);
  const start = await findLine(file.handle, 0, from - 1);
  const state = await stateOf(file);
  const bytes = await readRange(file.handle, start.offset, Math.min(maxBytes, file.stat.size - start.offset));
  const isAtEnd = start.offset + bytes.length >= file.stat.size;
  const { end, lines } = lineEnd(bytes, count, isAtEnd);
  return { ...state, data: bytes.subarray(0, end), offset: start.offset, firstLine: start.passed + 1, lines };
}

/** Finds where the line begins that comes after some line ends; at the end of the file if it has fewer. */
async function findLine(handle: FileHandle, offset: number, lineEnds: number) {
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  let passed = 0;
  let at = offset;
  while (passed < lineEnds) {
    const { bytesRead } = await handle.read(buffer, 0, READ_BYTES, at);
    if (bytesRead === 0) break;
    const piece = buffer.subarray(0, bytesRead);
    let next = 0;
    while (passed < lineEnds) {
      const found = piece.indexOf(LINE_FEED, next);
      if (found === -1) break;
      passed += 1;
      next = found + 1;
    }
    at += passed < lineEnds ? bytesRead : next;
  }
  return { offset: at, passed };
}

/** Where the last of some lines ends, and how many there are. A line that is cut counts only if it is the first. */
function lineEnd(bytes: Buffer, count: number, isAtEnd: boolean): { readonly end: number; readonly lines: number } {
  let end = 0;
  let lines = 0;
  while (lines < count && end < bytes.length) {
    const found = bytes.indexOf(LINE_FEED, end);
    if (found === -1 && !isAtEnd && lines > 0) break;
    end = found === -1 ? bytes.length : found + 1;
    lines += 1;
  }
  return { end, lines };
}

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
