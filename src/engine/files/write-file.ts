import { constants, type Stats } from 'node:fs';
import { type FileHandle, link, open, rename, unlink } from 'node:fs/promises';

import { AdapterError } from '../../core/errors.js';
import { ownUid } from '../system/own-user.js';
import { randomBytes } from '../system/random.js';
import type { FileJobOf, FileResult, FileState } from './file-job.js';
import { type HeldPath, type HoldPath, lookAt, movedPath, notAFile } from './held-path.js';
import {
  assertExpected,
  changedFile,
  eachPiece,
  expectsAnything,
  openFile,
  type OpenFile,
  stateOf,
} from './open-file.js';
import { type Content, ContentCheck, type Digest, writeContent } from './write-content.js';

/** Permissions of a new file, before the umask. */
const NEW_MODE = 0o666;
/** Permissions of a file while it is written in place of another one. */
const PRIVATE_MODE = 0o600;
export const PERMISSION_BITS = 0o7777;

type WriteJob = FileJobOf<'write'>;

/** A content with its check. */
interface CheckedContent {
  readonly content: Content;
  readonly check: ContentCheck;
}

/** What is to be known of a file that replaces another one. */
type Replacing = Pick<WriteJob, 'at' | 'mode' | 'expected' | 'permissions'>;

/** The file that is replaced, after all checks; undefined when there is none. */
async function oldFile(held: HeldPath, job: Replacing): Promise<Stats | undefined> {
  const old = await lookAt(held.entry);
  if (old) await assertReplaceable(held, old, job);
  await checkExpected(held, old, job);
  return old;
}

/** Puts a complete file in its place. */
async function place(
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

const { O_APPEND, O_CREAT, O_EXCL, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;
const GATHERING = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
/** Characters of a file's name in the name of its part: together they fit into the 255 bytes of a name. */
const SHOWN_NAME = 40;

/**
 * Replaces a file, or creates it, in several attempts: what has come is kept beside the file until all of it is there. A whole with another
 * SHA-256 is removed.
 * @throws AdapterError FILE_CHANGED, with the `size` from which an attempt can go on
 */
async function resume(held: HeldPath, job: WriteJob, { content, check }: CheckedContent): Promise<FileResult<'write'>> {
  const { key, from } = job.resume ?? { key: '', from: 0 };
  const old = await oldFile(held, job);
  const temporary = held.beside(`.${held.name.slice(0, SHOWN_NAME)}.${key}.part`);
  const mode = old || job.permissions !== undefined ? PRIVATE_MODE : NEW_MODE;
  const handle = await openPart(temporary, job.at.path, mode);
  try {
    await assertPart(handle, job.at.path, from);
    if (check.isWanted) for await (const piece of eachPiece(handle, from)) check.add(piece);
    // By position: the rest of an earlier attempt may still be written, and is the same.
    await writeContent(handle, content, check.add, from);
    try {
      await check.assert();
    } catch (error) {
      await unlink(temporary);
      throw error;
    }
    const result = await place(held, job, { handle, temporary, old });
    // A new file that must not replace another one is a second name of the part.
    if (!old && job.mode === 'create') await unlink(temporary).catch(() => undefined);
    return result;
  } finally {
    await handle.close();
  }
}

/**
 * Opens what has come of earlier attempts, or begins it. A file of another user, or one with another name, could be
 * changed by its owner later.
 */
async function openPart(part: string, path: string, mode: number): Promise<FileHandle> {
  try {
    return await open(part, GATHERING | O_CREAT | O_EXCL, mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const handle = await open(part, GATHERING);
  const { uid, nlink } = await handle.stat();
  if (uid === ownUid() && nlink === 1) return handle;
  await handle.close();
  throw new AdapterError('FILE_ACCESS_DENIED', `${path}: its part belongs to another user, or has another name`, {
    details: { path },
  });
}

async function assertPart(handle: FileHandle, path: string, from: number): Promise<void> {
  const stat = await handle.stat();
  if (!stat.isFile()) throw notAFile(`the part of ${path}`, stat.isDirectory());
  if (stat.size === from) return;
  throw changedFile(path, { size: stat.size }, `has an earlier attempt with ${stat.size} bytes, not ${from}`);
}

const NEW_FILE = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;
const APPENDING = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
/** Bytes of a random name. */
const NAME_BYTES = 8;

/**
 * Writes a file.
 * @param digest SHA-256 of the content, if it comes after it
 */
export async function writeFile(
  job: WriteJob,
  holdPath: HoldPath,
  content: Content,
  digest?: Digest,
): Promise<FileResult<'write'>> {
  const { at, createDirectories: create } = job;
  const checked = { content, check: new ContentCheck(job.digest ?? digest) };
  await using held = await holdPath(at, { create });
  try {
    if (job.resume) return await resume(held, job, checked);
    return await (job.mode === 'append' ? append(held, job, checked) : replace(held, job, checked));
  } catch (error) {
    await held.undo();
    throw error;
  }
}

/** Replaces a file, or creates it: another process sees the old content or the new. */
export async function replace(
  held: HeldPath,
  job: Replacing,
  { content, check }: CheckedContent,
): Promise<FileResult<'write'>> {
  const old = await oldFile(held, job);
  const temporary = held.beside(`.shell-adapter-${randomBytes(NAME_BYTES).toString('hex')}.new`);
  let isPlaced = false;
  const handle = await open(temporary, NEW_FILE, old ? PRIVATE_MODE : NEW_MODE);
  try {
    await writeContent(handle, content, check.add);
    await check.assert();
    const result = await place(held, job, { handle, temporary, old });
    isPlaced = old !== undefined || job.mode === 'overwrite';
    return result;
  } finally {
    await handle.close();
    if (!isPlaced) await unlink(temporary).catch(() => undefined);
  }
}

/** Appends to a file, or creates it. When that fails half-way, the file gets its old length. */
async function append(held: HeldPath, job: WriteJob, checked: CheckedContent): Promise<FileResult<'write'>> {
  const { at, expected, permissions } = job;
  const old = await lookAt(held.entry);
  if (!old) return replace(held, { ...job, mode: 'create' }, checked);
  if (old.isSymbolicLink()) throw Object.assign(new Error('a link that leads nowhere'), { code: 'ELOOP' });
  if (!old.isFile()) throw notAFile(at.path, old.isDirectory());
  const handle = await open(held.entry, APPENDING);
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw notAFile(at.path, stat.isDirectory());
    await assertExpected({ handle, stat } as OpenFile, expected, at.path);
    try {
      await writeContent(handle, checked.content, checked.check.add);
      await checked.check.assert();
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
