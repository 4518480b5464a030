import type { Stats } from 'node:fs';
import { lstat, opendir, readlink } from 'node:fs/promises';

import type { EntryType } from '../../core/files/limits.js';
import type { FileJobOf, FileResult, ListedEntry } from './file-job.js';
import type { HeldPath, HoldPath } from './held-path.js';
import { hashOf, openFile } from './open-file.js';

const PERMISSION_BITS = 0o7777;
const byName = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Kind of an entry. */
function typeOf(stat: Stats): EntryType {
  if (stat.isFile()) return 'file';
  if (stat.isDirectory()) return 'directory';
  return stat.isSymbolicLink() ? 'link' : 'other';
}

/** Lists a directory: the names are sorted, and no more are kept in memory than are returned. */
export async function listDirectory(
  { at, after, limit }: FileJobOf<'list'>,
  holdPath: HoldPath,
): Promise<FileResult<'list'>> {
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
export async function describePath(
  { at, hash }: FileJobOf<'describe'>,
  holdPath: HoldPath,
): Promise<FileResult<'describe'>> {
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
