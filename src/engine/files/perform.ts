import type { Stats } from 'node:fs';
import { chmod, link, lstat, mkdir, opendir, readlink, rename, rmdir, unlink } from 'node:fs/promises';

import { AdapterError } from '../../core/errors.js';
import {
  decodeText,
  type EntryType,
  MAX_DIFF_CHARACTERS,
  MAX_EDITED_BYTES,
  replaceText,
} from '../../core/file-edit.js';
import { unifiedDiff } from '../../core/unified-diff.js';
import type { Directories } from '../platform/platform.js';
import {
  fileError,
  type HeldPath,
  holderOf,
  type HoldPath,
  lookAt,
  notAFile,
  type OpenDirectory,
} from './held-path.js';
import type { FileJob, FileJobKind, FileJobOf, FilePerformer, FileResult, ListedEntry, Target } from './file-job.js';
import { findFiles, searchFiles } from './find-files.js';
import { assertExpected, hashOf, openFile, openToSend, readLines, readPart, readRange, sha256Of } from './open-file.js';
import { PathsWatch } from './watch.js';
import { ContentCheck } from './write-content.js';
import { PERMISSION_BITS, replace, writeFile } from './write-file.js';

/** Makes a directory. */
async function makeDirectory(
  job: FileJobOf<'makeDirectory'>,
  holdPath: HoldPath,
): Promise<FileResult<'makeDirectory'>> {
  const { at, parents, permissions } = job;
  await using held = await holdPath(at, { create: parents });
  const old = await lookAt(held.entry);
  if (old?.isDirectory() === true && parents) return { path: held.real, created: false };
  try {
    await mkdir(held.entry);
    if (permissions !== undefined) await chmod(held.entry, permissions);
    return { path: held.real, created: true };
  } catch (error) {
    await held.undo();
    throw error;
  }
}

/** Moves a directory entry. */
async function movePath({ at, to, overwrite }: FileJobOf<'move'>, holdPath: HoldPath): Promise<FileResult<'move'>> {
  await using from = await holdPath(at, { follow: false });
  await using there = await holdPath(to, { follow: false });
  const moved = await lstat(from.entry);
  const old = await lookAt(there.entry);
  if (old && !overwrite)
    throw new AdapterError('FILE_EXISTS', `${to.path} exists already`, { details: { path: to.path } });
  if (old?.isDirectory() === true) throw notAFile(to.path, true);
  if (moved.isFile() && !overwrite && (await linkFirst(from.entry, there.entry))) await unlink(from.entry);
  else await rename(from.entry, there.entry);
  return { path: there.real, replaced: old !== undefined };
}

/** Gives a file its new name without replacing another one; false where the file system has no hard links. */
async function linkFirst(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The kernel refuses links to files of others (proc(5), protected_hardlinks).
    if (code === 'EPERM' || code === 'EACCES' || code === 'ENOTSUP' || code === 'EMLINK') return false;
    throw error;
  }
}

/** Removes a directory entry, and with `recursive` all that is in it. No link is followed. */
async function removePath({ at, recursive }: FileJobOf<'remove'>, holdPath: HoldPath): Promise<FileResult<'remove'>> {
  await using held = await holdPath(at, { follow: false });
  // As rm(1): `--preserve-root` is its default.
  if (held.real === '/') {
    throw new AdapterError('FILE_ACCESS_DENIED', `${at.path}: the root directory is not removed`, {
      details: { path: at.path },
    });
  }
  const stat = await lstat(held.entry);
  if (!stat.isDirectory()) await unlink(held.entry);
  else if (recursive) return { removed: await removeTree(held.entry, await held.open()) };
  else await rmdir(held.entry);
  return { removed: 1 };
}

/** Removes a directory, and all that is in it; closes it. */
async function removeTree(entry: string, opened: OpenDirectory): Promise<number> {
  let removed = 1;
  {
    await using directory = opened;
    for await (const { name } of await opendir(directory.root)) {
      const child = directory.entry(name);
      if ((await lstat(child)).isDirectory()) removed += await removeTree(child, await directory.openInner(name));
      else {
        await unlink(child);
        removed += 1;
      }
    }
  }
  await rmdir(entry);
  return removed;
}

/** Replaces an exact text in a file. */
async function editFile(job: FileJobOf<'edit'>, holdPath: HoldPath): Promise<FileResult<'edit'>> {
  const { at, oldText, newText, all, expected } = job;
  await using held = await holdPath(at);
  const bytes = await readWhole(held.entry, job);
  const content = decodeText(bytes);
  const edit = replaceText(content, oldText, newText, all);
  const { diff, isTruncated } = unifiedDiff(
    { path: at.path, content, oldText, newText, positions: edit.positions },
    MAX_DIFF_CHARACTERS,
  );
  const present = { ...expected, sha256: sha256Of(bytes) };
  const written = await replace(
    held,
    { at, mode: 'overwrite', expected: present, permissions: undefined },
    { content: Buffer.from(edit.content), check: new ContentCheck(undefined) },
  );
  return { ...written, replaced: edit.positions.length, diff, isTruncated };
}

async function readWhole(entry: string, { at, expected }: FileJobOf<'edit'>): Promise<Buffer> {
  await using file = await openFile(entry, at.path);
  const { size } = file.stat;
  if (size > MAX_EDITED_BYTES) {
    throw new AdapterError(
      'FILE_TOO_LARGE',
      `${at.path} has ${size} bytes; at most ${MAX_EDITED_BYTES} can be edited: use a command, such as sed -i`,
      { details: { path: at.path, size, max: MAX_EDITED_BYTES } },
    );
  }
  await assertExpected(file, expected, at.path);
  return await readRange(file.handle, 0, size);
}

const byName = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Kind of an entry. */
function typeOf(stat: Stats): EntryType {
  if (stat.isFile()) return 'file';
  if (stat.isDirectory()) return 'directory';
  return stat.isSymbolicLink() ? 'link' : 'other';
}

/** Lists a directory: the names are sorted, and no more are kept in memory than are returned. */
async function listDirectory({ at, after, limit }: FileJobOf<'list'>, holdPath: HoldPath): Promise<FileResult<'list'>> {
  await using held = await holdPath(at);
  await using directory = await held.open();
  const names = await smallestNames(directory.root, after, limit + 1);
  const shown = names.slice(0, limit);
  const entries: ListedEntry[] = [];
  for (const name of shown) {
    const entry = await describeEntry(directory.entry(name));
    if (entry) entries.push({ name, ...entry });
  }
  return { path: held.real, entries, next: names.length > limit ? shown.at(-1) : undefined };
}

/** The first names after another one. */
async function smallestNames(path: string, after: string | undefined, count: number): Promise<readonly string[]> {
  let names: string[] = [];
  for await (const { name } of await opendir(path)) {
    if (after !== undefined && name <= after) continue;
    names.push(name);
    if (names.length >= 2 * count) names = names.sort(byName).slice(0, count);
  }
  return names.sort(byName).slice(0, count);
}

/** Describes an entry; undefined when it has just been removed. */
async function describeEntry(path: string): Promise<Omit<ListedEntry, 'name'> | undefined> {
  try {
    const stat = await lstat(path);
    return { ...factsOf(stat), target: stat.isSymbolicLink() ? await readlink(path) : undefined };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const factsOf = (stat: Stats) => ({
  type: typeOf(stat),
  size: stat.isFile() ? stat.size : undefined,
  mode: stat.mode & PERMISSION_BITS,
  mtimeMs: stat.mtimeMs,
});

/** Describes a path. */
async function describePath({ at, hash }: FileJobOf<'describe'>, holdPath: HoldPath): Promise<FileResult<'describe'>> {
  await using held = await holdPath(at);
  const stat = await lstat(held.entry);
  const { uid, gid } = stat;
  const sha256 = hash && stat.isFile() ? await hashFile(held.entry, at.path) : undefined;
  return {
    ...factsOf(stat),
    sha256,
    uid,
    gid,
    path: at.path,
    realPath: held.real,
    target: await linkText(at.path, held, holdPath),
  };
}

async function hashFile(entry: string, path: string): Promise<string> {
  await using file = await openFile(entry, path);
  return await hashOf(file.handle);
}

/** What a link says; undefined for a path that is none. */
async function linkText(path: string, followed: HeldPath, holdPath: HoldPath): Promise<string | undefined> {
  await using held = await holdPath({ path }, { follow: false });
  if (held.real === followed.real && !(await lstat(held.entry)).isSymbolicLink()) return undefined;
  return await readlink(held.entry).catch(() => undefined);
}

const NOTHING = new Uint8Array();

/** Returns what does jobs in this process, with its rights. */
export function performerWith(directories: Directories): FilePerformer {
  const hold = holderOf(directories);
  return {
    perform: (job, content = NOTHING) => naming(job.at, () => start(job as FileJob, hold, content)) as Promise<never>,
    send: (at) => naming(at, () => openToSend(at, hold)),
    receive: (job, content, digest) => naming(job.at, () => writeFile(job, hold, content, digest)),
    watch: async (job, onBatch) => {
      const watch = await PathsWatch.start(job, onBatch, directories);
      return {
        ended: new Promise(() => undefined),
        [Symbol.asyncDispose]: () => {
          watch[Symbol.dispose]();
          return Promise.resolve();
        },
      };
    },
  };
}

/** Does work on a path, and converts the errors of the file system. */
async function naming<T>({ path }: Target, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fileError(error, path);
  }
}

function start(job: FileJob, hold: HoldPath, content: Uint8Array): Promise<FileResult> {
  const perform = PERFORM[job.kind] as (job: FileJob, hold: HoldPath, content: Uint8Array) => Promise<FileResult>;
  return perform(job, hold, content);
}

const PERFORM: {
  readonly [K in FileJobKind]: (job: FileJobOf<K>, hold: HoldPath, content: Uint8Array) => Promise<FileResult<K>>;
} = {
  read: readPart,
  lines: readLines,
  write: writeFile,
  edit: editFile,
  list: listDirectory,
  describe: describePath,
  makeDirectory,
  move: movePath,
  remove: removePath,
  find: findFiles,
  search: searchFiles,
};
