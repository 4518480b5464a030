import { type Stats } from 'node:fs';
import { type FileHandle, link, rename } from 'node:fs/promises';

import { AdapterError } from '../../core/errors.js';
import { ownUid } from '../system/own-user.js';
import type { FileJobOf, FileResult } from './file-job.js';
import { type HeldPath, lookAt } from './held-path.js';
import { movedPath, notAFile } from './file-errors.js';
import { assertExpected, expectsAnything, openFile, type OpenFile, stateOf } from './open-file.js';
import type { Content, ContentCheck } from './write-content.js';

/** Permissions of a new file, before the umask. */
export const NEW_MODE = 0o666;
/** Permissions of a file while it is written in place of another one. */
export const PRIVATE_MODE = 0o600;
const PERMISSION_BITS = 0o7777;

type WriteJob = FileJobOf<'write'>;

/** A content with its check. */
export interface CheckedContent {
  readonly content: Content;
  readonly check: ContentCheck;
}

/** What is to be known of a file that replaces another one. */
export type Replacing = Pick<WriteJob, 'at' | 'mode' | 'expected' | 'permissions'>;

/** The file that is replaced, after all checks; undefined when there is none. */
export async function oldFile(held: HeldPath, job: Replacing): Promise<Stats | undefined> {
  const old = await lookAt(held.entry);
  if (old) await assertReplaceable(held, old, job);
  await checkExpected(held, old, job);
  return old;
}

/** Puts a complete file in its place. */
export async function place(
  held: HeldPath,
  { at, mode, permissions }: Replacing,
  {
    handle,
    temporary,
    old,
  }: { readonly handle: FileHandle; readonly temporary: string; readonly old: Stats | undefined },
): Promise<FileResult<'write'>> {
  await takeOver(handle, old, permissions);
  await handle.sync();
  const state = await stateOf({ handle, stat: await handle.stat() } as OpenFile);
  await assertSame(held, old, at.path);
  if (old || mode === 'overwrite') await rename(temporary, held.entry);
  else await linkNew(temporary, held.entry);
  return { ...state, created: old === undefined };
}

/** Checks that what is there is a file, which this user may write to. */
async function assertReplaceable(held: HeldPath, old: Stats, { at, mode }: Pick<WriteJob, 'at' | 'mode'>) {
  if (mode === 'create') {
    throw new AdapterError('FILE_EXISTS', `${at.path} exists already`, { details: { path: at.path } });
  }
  if (old.isSymbolicLink()) throw Object.assign(new Error('a link that leads nowhere'), { code: 'ELOOP' });
  if (!old.isFile()) throw notAFile(at.path, old.isDirectory());
  try {
    await (await openFile(held.entry, at.path, 'write'))[Symbol.asyncDispose]();
  } catch (error) {
    // A program that runs cannot be opened for writing, but be replaced.
    if ((error as NodeJS.ErrnoException).code !== 'ETXTBSY') throw error;
  }
}

async function checkExpected(
  held: HeldPath,
  old: Stats | undefined,
  { at, expected }: Pick<WriteJob, 'at' | 'expected'>,
): Promise<void> {
  if (!expectsAnything(expected)) return;
  if (!old) {
    await assertExpected(undefined, expected, at.path);
    return;
  }
  await using file = await openFile(held.entry, at.path);
  await assertExpected(file, expected, at.path);
}

/** Gives the new file the owner and the permissions of the old one. */
async function takeOver(handle: FileHandle, old: Stats | undefined, permissions: number | undefined): Promise<void> {
  if (old) {
    const { uid, gid } = await handle.stat();
    if (old.uid !== uid || old.gid !== gid) await handle.chown(old.uid, old.gid);
  }
  const mode = permissions ?? (old && old.mode & PERMISSION_BITS);
  // Only root may keep the bits that give a program the rights of its owner.
  if (mode !== undefined) await handle.chmod(ownUid() === 0 || permissions !== undefined ? mode : mode & 0o1777);
}

/** Checks that nothing has put another file in place meanwhile. */
async function assertSame(held: HeldPath, old: Stats | undefined, path: string): Promise<void> {
  const now = await lookAt(held.entry);
  const isSame = now === undefined ? old === undefined : now.ino === old?.ino && now.mtimeMs === old.mtimeMs;
  if (!isSame) throw movedPath(path);
}

/** Places a new file without replacing another one. */
async function linkNew(temporary: string, entry: string): Promise<void> {
  try {
    await link(temporary, entry);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A file system without hard links: it was not there a moment ago.
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EOPNOTSUPP') throw error;
    await rename(temporary, entry);
  }
}
