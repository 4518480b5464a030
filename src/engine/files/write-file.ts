import { constants, type Stats } from 'node:fs';
import { type FileHandle, link, open, rename, unlink } from 'node:fs/promises';

import { AdapterError } from '../../core/errors.js';
import { ownUid } from '../system/own-user.js';
import { randomBytes } from '../system/random.js';
import type { FileJobOf, FileResult, FileState } from './file-job.js';
import { type HeldPath, holdPath, lookAt } from './held-path.js';
import { movedPath, notAFile } from './file-errors.js';
import { assertExpected, expectsAnything, openFile, type OpenFile, stateOf } from './open-file.js';
import { type Content, writeContent } from './write-content.js';

const { O_APPEND, O_CREAT, O_EXCL, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;
const NEW_FILE = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;
const APPENDING = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
/** Permissions of a new file, before the umask. */
const NEW_MODE = 0o666;
/** Permissions of a file while it is written in place of another one. */
const PRIVATE_MODE = 0o600;
const PERMISSION_BITS = 0o7777;
/** Bytes of a random name. */
const NAME_BYTES = 8;

type WriteJob = FileJobOf<'write'>;

/** Writes a file. */
export async function writeFile(job: WriteJob, content: Content): Promise<FileResult<'write'>> {
  const { at, createDirectories: create } = job;
  await using held = await holdPath(at, { create });
  try {
    return await (job.mode === 'append' ? append(held, job, content) : replace(held, job, content));
  } catch (error) {
    await held.undo();
    throw error;
  }
}

/** Replaces a file, or creates it: another process sees the old content or the new. */
export async function replace(
  held: HeldPath,
  { at, mode, expected, permissions, digest }: Pick<WriteJob, 'at' | 'mode' | 'expected' | 'permissions' | 'digest'>,
  content: Content,
): Promise<FileResult<'write'>> {
  const old = await lookAt(held.entry);
  if (old) await assertReplaceable(held, old, { at, mode });
  await checkExpected(held, old, { at, expected });
  const temporary = held.beside(`.shell-adapter-${randomBytes(NAME_BYTES).toString('hex')}.new`);
  let isPlaced = false;
  const handle = await open(temporary, NEW_FILE, old ? PRIVATE_MODE : NEW_MODE);
  try {
    await writeContent(handle, content, digest);
    await takeOver(handle, old, permissions);
    await handle.sync();
    const state = await stateOf({ handle, stat: await handle.stat() } as OpenFile);
    await assertSame(held, old, at.path);
    if (old || mode === 'overwrite') await rename(temporary, held.entry);
    else await linkNew(temporary, held.entry);
    isPlaced = old !== undefined || mode === 'overwrite';
    return { ...state, created: old === undefined };
  } finally {
    await handle.close();
    if (!isPlaced) await unlink(temporary).catch(() => undefined);
  }
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

/** Appends to a file, or creates it. When that fails half-way, the file gets its old length. */
async function append(held: HeldPath, job: WriteJob, content: Content): Promise<FileResult<'write'>> {
  const { at, expected, permissions, digest } = job;
  const old = await lookAt(held.entry);
  if (!old) return replace(held, { ...job, mode: 'create' }, content);
  if (old.isSymbolicLink()) throw Object.assign(new Error('a link that leads nowhere'), { code: 'ELOOP' });
  if (!old.isFile()) throw notAFile(at.path, old.isDirectory());
  const handle = await open(held.entry, APPENDING);
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw notAFile(at.path, stat.isDirectory());
    await assertExpected({ handle, stat } as OpenFile, expected, at.path);
    try {
      await writeContent(handle, content, digest);
    } catch (error) {
      await handle.truncate(stat.size).catch(() => undefined);
      throw error;
    }
    if (permissions !== undefined) await handle.chmod(permissions);
    const state: FileState = await stateOf({ handle, stat: await handle.stat() } as OpenFile);
    return { ...state, created: false };
  } finally {
    await handle.close();
  }
}
