import { lstat } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { compileGlob } from '../../core/files/glob.js';
import {
  MAX_FIND_MS,
  MAX_LINE_BYTES_SEARCHED,
  MAX_SEARCHED_FILE_BYTES,
  type StopReason,
} from '../../core/files/limits.js';
import { compileLinePattern, type LineMatch, LineSearch } from '../../core/output/line-search.js';
import type { FileJobOf, FileResult, FoundEntry, FoundLine } from './file-job.js';
import type { HoldPath } from './held-path.js';
import { openFile, readRange } from './open-file.js';
import { walk, type WalkedEntry } from './walk.js';

/** Size of a piece that is searched, in bytes. */
const PIECE_BYTES = 256 * 1024;
/** Bytes at the beginning of a file in which NUL says that it is not text. */
const HEAD_BYTES = 8192;
/** Longest time that a search blocks its process, in milliseconds. */
const SLICE_MS = 4;
const NOTHING = new Uint8Array();

/** Whether a walk has to stop, and why. */
class Budget {
  readonly #until = performance.now() + MAX_FIND_MS;
  stopped: StopReason | undefined;
  skipped = 0;
  bytes = 0;

  readonly isOver = (): boolean => {
    if (performance.now() > this.#until) this.stopped ??= 'time';
    if (this.bytes > MAX_LINE_BYTES_SEARCHED) this.stopped ??= 'bytes';
    return this.stopped !== undefined;
  };

  readonly onSkipped = (): void => {
    this.skipped += 1;
  };
}

type Visit = (entry: WalkedEntry, budget: Budget) => Promise<void>;

/** Walks through the directory of a job. */
async function walkIn(
  { at, includeIgnored }: FileJobOf<'find'> | FileJobOf<'search'>,
  holdPath: HoldPath,
  visit: Visit,
): Promise<{ readonly path: string; readonly budget: Budget }> {
  await using held = await holdPath(at);
  const budget = new Budget();
  if ((await lstat(held.entry)).isFile()) {
    await visit({ path: held.name, type: 'file', entry: held.entry }, budget);
    return { path: held.real, budget };
  }
  await using directory = await held.open();
  const options = { honoursIgnore: !includeIgnored, isOver: budget.isOver, onSkipped: budget.onSkipped };
  for await (const entry of walk(directory, held.real, options)) await visit(entry, budget);
  return { path: held.real, budget };
}

/** Finds entries by their names. */
export async function findFiles(job: FileJobOf<'find'>, holdPath: HoldPath): Promise<FileResult<'find'>> {
  const { pattern, type: wanted, limit } = job;
  const matches = pattern === undefined ? () => true : compileGlob(pattern);
  const found: FoundEntry[] = [];
  const { path, budget } = await walkIn(job, holdPath, async ({ path: name, type, entry }, walking) => {
    if ((wanted !== undefined && type !== wanted) || !matches(name)) return;
    if (found.length === limit) {
      walking.stopped ??= 'limit';
      return;
    }
    const stat = await lstat(entry).catch(() => undefined);
    if (stat) found.push({ path: name, type, size: stat.isFile() ? stat.size : undefined, mtimeMs: stat.mtimeMs });
  });
  return { path, matches: found, skipped: budget.skipped, stopped: budget.stopped };
}

/** Searches the lines of text files. */
export async function searchFiles(job: FileJobOf<'search'>, holdPath: HoldPath): Promise<FileResult<'search'>> {
  const { glob, limit } = job;
  const isWanted = glob === undefined ? () => true : compileGlob(glob);
  const find = compileLinePattern(job);
  const found: FoundLine[] = [];
  let searched = 0;
  const { path, budget } = await walkIn(job, holdPath, async ({ path: name, type, entry }, walking) => {
    if (type !== 'file' || !isWanted(name)) return;
    const lines = await searchFile(entry, new LineSearch(find, limit - found.length + 1, 0), walking);
    if (!lines) {
      walking.onSkipped();
      return;
    }
    searched += 1;
    found.push(...lines.map((line) => ({ path: name, ...line })));
    if (found.length > limit) walking.stopped ??= 'limit';
  });
  const matches = found.slice(0, limit);
  return { path, matches, searched, skipped: budget.skipped, stopped: budget.stopped };
}

/** Searches a file; undefined for one that cannot be read, is too large, or is not text. */
async function searchFile(
  entry: string,
  search: LineSearch,
  budget: Budget,
): Promise<readonly LineMatch[] | undefined> {
  const file = await openFile(entry, entry).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { size } = file.stat;
    if (size > MAX_SEARCHED_FILE_BYTES) return undefined;
    for (let at = 0; at < size && !search.isFull && !budget.isOver();) {
      const piece = await readRange(file.handle, at, Math.min(PIECE_BYTES, size - at));
      if (piece.length === 0) break;
      if (at === 0 && piece.subarray(0, HEAD_BYTES).includes(0)) return undefined;
      at += piece.length;
      budget.bytes += piece.length;
      await takeWhole(search, piece, budget);
    }
    search.takeLast();
    return search.matches;
  } finally {
    await file[Symbol.asyncDispose]();
  }
}

/** Searches a piece in slices, so that other work of the process is not held up. */
async function takeWhole(search: LineSearch, piece: Uint8Array, budget: Budget): Promise<void> {
  let since = performance.now();
  const mustPause = () => performance.now() - since > SLICE_MS;
  let isDone = search.take(piece, mustPause);
  while (!isDone && !search.isFull && !budget.isOver()) {
    await nextTurn();
    since = performance.now();
    isDone = search.take(NOTHING, mustPause);
  }
}
