import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';

/**
 * Writes a file that only this user can read; it appears complete or not at all.
 * @throws Error of the file system, for example ENOSPC: an earlier file is then as it was
 */
export function writePrivateFile(file: string, content: string): void {
  const unfinished = `${file}.${randomBytes(6).toString('hex')}.new`;
  const descriptor = openSync(unfinished, 'wx', 0o600);
  try {
    try {
      writeSync(descriptor, content);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(unfinished, file);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}
