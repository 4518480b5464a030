import { constants } from 'node:fs';
import { lstat, open, opendir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

import type { EntryType } from '../../core/files/limits.js';
import { type IgnoreFile, isIgnored, parseIgnoreFile } from '../../core/files/ignore-rules.js';
import type { OpenDirectory } from './open-directory.js';
import { readRange } from './open-file.js';

const FILE_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Deepest directory below the top: each keeps a descriptor open. */
const MAX_DEPTH = 64;
/** Most names of one directory: more are left out. */
const MAX_NAMES = 50_000;
/** Largest .gitignore that is read, in bytes. */
const MAX_IGNORE_BYTES = 256 * 1024;
const IGNORE_FILE = '.gitignore';
const REPOSITORY = '.git';

/** An entry that a walk has found. */
export interface WalkedEntry {
  /** Relative to the top. */
  readonly path: string;
  readonly type: EntryType;
  /** A path to it for system calls, until the next step of the walk. */
  readonly entry: string;
}

/** What a walk leaves out, and when it ends. */
export interface WalkOptions {
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
