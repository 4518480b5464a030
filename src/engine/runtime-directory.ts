import { randomBytes } from 'node:crypto';
import { accessSync, constants, lstatSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { AdapterError } from '../core/errors.js';
import { ownUid } from './own-user.js';
import { isAlive, readProcess } from './process-table.js';

/** `f_type` of a tmpfs, statfs(2). */
const TMPFS_MAGIC = 0x01021994;

/** FIFOs on a disk's file system cost 12 % of a command's time, so memory is preferred. */
function fastestDirectory(): string {
  const candidates = [`/run/user/${ownUid()}`, '/dev/shm'];
  for (const path of candidates) {
    try {
      accessSync(path, constants.W_OK | constants.X_OK);
      if (statfsSync(path).type === TMPFS_MAGIC) return path;
    } catch {
      // Not there, or not ours: the next one.
    }
  }
  return tmpdir();
}

/** Makes a directory that only this user can enter, and refuses one that somebody else prepared. */
export function makePrivate(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const stat = lstatSync(path);
  if (!stat.isDirectory() || stat.uid !== ownUid() || (stat.mode & 0o077) !== 0) {
    throw new AdapterError('INTERNAL', `${path} is not a private directory of this user: remove it`);
  }
}

/** A daemon's own directory for FIFOs and files that live as long as it does. */
export interface RuntimeDirectory {
  readonly path: string;
  /** Name of this run of the daemon, with which the tags of all its processes begin. */
  readonly instance: string;
}

/** A daemon that has ended without cleaning up. */
export interface DeadInstance {
  readonly instance: string;
  readonly path: string;
}

/**
 * Makes the directory of this run. Its name, `PID-STARTTICKS-RANDOM`, tells a later run whether its owner still lives.
 * @param base parent directory; by default a tmpfs of this user, `/dev/shm`, or the temporary directory.
 */
export function makeRuntimeDirectory(base: string = fastestDirectory()): RuntimeDirectory {
  const parent = join(base, `shell-adapter-${ownUid()}`);
  makePrivate(parent);
  const startTicks = readProcess(process.pid)?.startTicks ?? 0;
  const instance = `${process.pid}-${startTicks}-${randomBytes(4).toString('hex')}`;
  const path = join(parent, instance);
  makePrivate(path);
  return { path, instance };
}

/** Finds the directories beside this one whose daemons have ended, killed for instance, without removing them. */
export function findDeadInstances(own: RuntimeDirectory): DeadInstance[] {
  const parent = join(own.path, '..');
  return readdirSync(parent)
    .filter((instance) => instance !== own.instance && !isInstanceAlive(instance))
    .map((instance) => ({ instance, path: join(parent, instance) }));
}

/** Whether the daemon of this run still lives. */
export function isInstanceAlive(instance: string): boolean {
  const [pid, startTicks] = instance.split('-').map(Number);
  if (pid === undefined || startTicks === undefined) return false;
  // A daemon that was killed, and whose parent has not noticed yet, is dead.
  return isAlive({ pid, startTicks });
}

/** Removes a directory of this or an earlier run, with all in it. */
export function removeRuntimeDirectory(path: string): void {
  rmSync(path, { recursive: true, force: true });
}
