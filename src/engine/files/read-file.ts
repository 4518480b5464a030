import type { FileHandle } from 'node:fs/promises';

import type { FileJobOf, FileResult } from './file-job.js';
import type { HoldPath } from './held-path.js';
import { openFile, readRange, sha256Of, stateOf, versionOf } from './open-file.js';

/** Size of the pieces in which lines are searched, in bytes. */
const PIECE_BYTES = 64 * 1024;
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
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  let passed = 0;
  let at = offset;
  while (passed < lineEnds) {
    const { bytesRead } = await handle.read(buffer, 0, PIECE_BYTES, at);
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
