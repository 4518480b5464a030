import { constants } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';

import { AdapterError } from '../../core/errors.js';
import { ownUid } from '../system/own-user.js';
import type { FileJobOf, FileResult } from './file-job.js';
import { type HeldPath } from './held-path.js';
import { notAFile } from './file-errors.js';
import { changedFile, eachPiece } from './open-file.js';
import { type CheckedContent, NEW_MODE, oldFile, place, PRIVATE_MODE } from './place-file.js';
import { writeContent } from './write-content.js';

const { O_CREAT, O_EXCL, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;
const GATHERING = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
/** Characters of a file's name in the name of its part: together they fit into the 255 bytes of a name. */
const SHOWN_NAME = 40;

type WriteJob = FileJobOf<'write'>;

/**
 * Replaces a file, or creates it, in several attempts: what has come is kept beside the file until all of it is there. A whole with another
 * SHA-256 is removed.
 * @throws AdapterError FILE_CHANGED, with the `size` from which an attempt can go on
 */
export async function resume(
  held: HeldPath,
  job: WriteJob,
  { content, check }: CheckedContent,
): Promise<FileResult<'write'>> {
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
