import { chmod, link, lstat, mkdir, opendir, rename, rmdir, unlink } from 'node:fs/promises';

import { AdapterError } from '../../core/errors.js';
import type { FileJobOf, FileResult } from './file-job.js';
import { type HoldPath, lookAt } from './held-path.js';
import { notAFile } from './file-errors.js';
import type { OpenDirectory } from './open-directory.js';

/** Makes a directory. */
export async function makeDirectory(
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
export async function movePath(
  { at, to, overwrite }: FileJobOf<'move'>,
  holdPath: HoldPath,
): Promise<FileResult<'move'>> {
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
export async function removePath(
  { at, recursive }: FileJobOf<'remove'>,
  holdPath: HoldPath,
): Promise<FileResult<'remove'>> {
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
