import { constants } from 'node:fs';
import { lstat, open, opendir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

import { compileGlob, type IgnoreFile, isIgnored, parseIgnoreFile } from '../../core/glob.js';
import {
  type EntryType,
  MAX_FIND_MS,
  MAX_LINE_BYTES_SEARCHED,
  MAX_SEARCHED_FILE_BYTES,
  type StopReason,
} from '../../core/file-edit.js';
import { compileLinePattern, type LineMatch, LineSearch } from '../../core/output/line-search.js';
import { Slices } from '../system/promises.js';
import type { FileJobOf, FileResult, FoundEntry, FoundLine } from './file-job.js';
import type { HoldPath, OpenDirectory } from './held-path.js';
import { openFile, readRange } from './open-file.js';

const FILE_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Deepest directory below the top: each keeps a descriptor open. */
const MAX_DEPTH = 64;
/** Most names of one directory: more are left out. */
const MAX_NAMES = 50_000;
/** Largest .gitignore that is read, in bytes. */
const MAX_IGNORE_BYTES = 256 * 1024;
export const IGNORE_FILE = '.gitignore';
const REPOSITORY = '.git';

/** An entry that a walk has found. */
interface WalkedEntry {
  /** Relative to the top. */
  readonly path: string;
  readonly type: EntryType;
  /** A path to it for system calls, until the next step of the walk. */
  readonly entry: string;
}

/** What a walk leaves out, and when it ends. */
interface WalkOptions {
  /** Whether entries that a .gitignore excludes are left out, and repositories of git. */
  readonly honoursIgnore: boolean;
  /** Whether to end. */
  readonly isOver: () => boolean;
  /** Called for a directory that cannot be read, or of which a part is left out. */
  readonly onSkipped: () => void;
}

/** Walks through a directory by name, without following links: each directory before what is in it. */
export async function* walk(top: OpenDirectory, real: string, options: WalkOptions): AsyncGenerator<WalkedEntry> {
  const ignoreFiles = options.honoursIgnore ? await ignoreFilesAbove(real) : [];
  yield* walkDirectory({ directory: top, prefix: '', depth: 0, ignoreFiles }, options);
}

interface Place {
  readonly directory: OpenDirectory;
  readonly prefix: string;
  readonly depth: number;
  readonly ignoreFiles: readonly IgnoreFile[];
}

async function* walkDirectory(place: Place, options: WalkOptions): AsyncGenerator<WalkedEntry> {
  const { directory } = place;
  const entries = await entriesOf(directory.root, options);
  const own = options.honoursIgnore && entries.some(({ name }) => name === IGNORE_FILE);
  const ignoreFiles = own
    ? [...place.ignoreFiles, { below: place.prefix, above: '', rules: await readRules(directory.entry(IGNORE_FILE)) }]
    : place.ignoreFiles;
  for (const { name, type } of entries) {
    if (options.isOver()) return;
    const path = `${place.prefix}${name}`;
    const isDirectory = type === 'directory';
    if (options.honoursIgnore && (name === REPOSITORY || isIgnored(path, isDirectory, ignoreFiles))) continue;
    yield { path, type, entry: directory.entry(name) };
    if (isDirectory) yield* walkBelow(name, { ...place, prefix: `${path}/`, ignoreFiles }, options);
  }
}

async function* walkBelow(
  name: string,
  { directory: above, prefix, depth, ignoreFiles }: Place,
  options: WalkOptions,
): AsyncGenerator<WalkedEntry> {
  await using directory = depth < MAX_DEPTH ? await above.openInner(name).catch(() => undefined) : undefined;
  if (!directory) {
    options.onSkipped();
    return;
  }
  yield* walkDirectory({ directory, prefix, depth: depth + 1, ignoreFiles }, options);
}

async function entriesOf(root: string, { onSkipped, isOver }: WalkOptions) {
  const entries: { readonly name: string; readonly type: EntryType }[] = [];
  for await (const entry of await opendir(root, { bufferSize: 1024 })) {
    if (entries.length >= MAX_NAMES || isOver()) {
      onSkipped();
      break;
    }
    const type = entry.isFile()
      ? 'file'
      : entry.isDirectory()
        ? 'directory'
        : entry.isSymbolicLink()
          ? 'link'
          : 'other';
    entries.push({ name: entry.name, type });
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The rules of the .gitignore files between the top of the repository and a directory below it. */
async function ignoreFilesAbove(real: string): Promise<readonly IgnoreFile[]> {
  const found: IgnoreFile[] = [];
  if (await exists(join(real, REPOSITORY))) return found;
  for (let above = dirname(real), last = real; above !== last; last = above, above = dirname(above)) {
    const rules = await readRules(join(above, IGNORE_FILE));
    if (rules.length > 0) found.unshift({ below: '', above: `${relative(above, real)}/`, rules });
    if (await exists(join(above, REPOSITORY))) return found;
  }
  // No repository: the files above are of no concern.
  return [];
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

async function readRules(path: string): Promise<IgnoreFile['rules']> {
  const file = await open(path, FILE_FLAGS).catch(() => undefined);
  if (!file) return [];
  try {
    const stat = await file.stat();
    if (!stat.isFile()) return [];
    return parseIgnoreFile((await readRange(file, 0, Math.min(stat.size, MAX_IGNORE_BYTES))).toString());
  } finally {
    await file.close();
  }
}

/** Size of a piece that is searched, in bytes. */
const PIECE_BYTES = 256 * 1024;
/** Bytes at the beginning of a file in which NUL says that it is not text. */
const HEAD_BYTES = 8192;
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
      await takeWhole(search, piece, new Slices(), budget.isOver);
    }
    search.takeLast();
    return search.matches;
  } finally {
    await file[Symbol.asyncDispose]();
  }
}

/** Searches a piece in slices, until it is done or `isOver`. */
export async function takeWhole(
  search: LineSearch,
  piece: Uint8Array,
  slices: Slices,
  isOver: () => boolean,
): Promise<void> {
  const mustPause = () => slices.isOver;
  let isDone = search.take(piece, mustPause);
  while (!isDone && !search.isFull && !isOver()) {
    await slices.next();
    isDone = search.take(NOTHING, mustPause);
  }
}
