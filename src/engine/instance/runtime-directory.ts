import { accessSync, constants, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { AdapterError } from '../../core/errors.js';
import { type LivenessMarker, createInstanceId } from './liveness-marker.js';
import { ownUid } from '../system/own-user.js';

/** `f_type` of a tmpfs, statfs(2). */
const TMPFS_MAGIC = 0x01021994;

/**
 * FIFOs on a disk's file system cost 12 % of a command's time, so memory is preferred. `/run/user/UID` comes last: it goes
 * with the user's last login, and cannot be made again.
 */
function fastestDirectories(): string[] {
  const candidates = ['/dev/shm', `/run/user/${ownUid()}`];
  const usable = candidates.filter((path) => {
    try {
      accessSync(path, constants.W_OK | constants.X_OK);
      return statfsSync(path).type === TMPFS_MAGIC;
    } catch {
      // Not there, or not ours: the next one.
      return false;
    }
  });
  return [...usable, tmpdir()];
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
export class RuntimeDirectory {
  readonly path: string;
  /** Name of this run of the daemon, with which the tags of all its processes begin. */
  readonly instance: string;
  readonly #restorers: (() => void)[] = [];

  constructor(parent: string, instance: string) {
    this.path = join(parent, instance);
    this.instance = instance;
    this.#make();
  }

  /** Has something done whenever the directory was made again, empty. */
  onRestored(restore: () => void): void {
    this.#restorers.push(restore);
  }

  /**
   * Makes it again if somebody has removed it: systemd-logind does so when the user logs out (RemoveIPC), and so do people.
   * @throws Error when that cannot be done
   */
  ensure(): void {
    if (existsSync(this.path)) return;
    this.#make();
    for (const restore of this.#restorers) restore();
  }

  #make(): void {
    makePrivate(dirname(this.path));
    makePrivate(this.path);
  }
}

/** A daemon that has ended without cleaning up. */
export interface DeadInstance {
  readonly instance: string;
  readonly path: string;
}

/**
 * Makes the directory of this run, under its name.
 * @param bases parent directories, the first that can be used; by default on a tmpfs, else the temporary directory.
 */
export function makeRuntimeDirectory(bases: readonly string[] = fastestDirectories()): RuntimeDirectory {
  const instance = createInstanceId();
  const [base = tmpdir(), ...others] = bases;
  try {
    return new RuntimeDirectory(join(base, `shell-adapter-${ownUid()}`), instance);
  } catch (error) {
    // Somebody else has prepared one, or it is full.
    if (others.length === 0) throw error;
    return makeRuntimeDirectory(others);
  }
}

/** Finds the directories beside this one whose daemons have ended, killed for instance, without removing them. */
export function findDeadInstances(own: RuntimeDirectory, lifeSigns: LivenessMarker): DeadInstance[] {
  const parent = dirname(own.path);
  return readdirSync(parent)
    .filter((instance) => !lifeSigns.isAlive(instance))
    .map((instance) => ({ instance, path: join(parent, instance) }));
}

/** Removes a directory of this or an earlier run, with all in it. */
export function removeRuntimeDirectory(path: string): void {
  rmSync(path, { recursive: true, force: true });
}
