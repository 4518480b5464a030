import { constants } from 'node:fs';
import { open, unlink } from 'node:fs/promises';

import { randomBytes } from '../system/random.js';
import type { FileJobOf, FileResult, FileState } from './file-job.js';
import { type HeldPath, type HoldPath, lookAt } from './held-path.js';
import { notAFile } from './file-errors.js';
import { assertExpected, type OpenFile, stateOf } from './open-file.js';
import { type CheckedContent, NEW_MODE, oldFile, place, PRIVATE_MODE, type Replacing } from './place-file.js';
import { resume } from './resume-file.js';
import { type Content, ContentCheck, type Digest, writeContent } from './write-content.js';

const { O_APPEND, O_CREAT, O_EXCL, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;
const NEW_FILE = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;
const APPENDING = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
/** Bytes of a random name. */
const NAME_BYTES = 8;

type WriteJob = FileJobOf<'write'>;

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
