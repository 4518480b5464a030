import { accessSync, chmodSync, constants, existsSync, lstatSync, mkdirSync, readdirSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { AdapterError } from '../../core/errors.js';
import { type LivenessMarker, createInstanceId } from './liveness-marker.js';
import type { Platform } from '../platform/contract/platform.js';
import { ownUid } from '../system/own-user.js';
import { type FileOwner, makeDirectoryFor } from '../system/file-owner.js';

/** `f_type` of a tmpfs, statfs(2). */
const TMPFS_MAGIC = 0x01021994;

/**
 * Returns candidate directories. FIFOs on a disk's file system cost 12 % of a command's time, so memory is preferred.
 * `/run/user/UID` is the last resort in memory: it is removed with the user's last login, and cannot be created again.
 */
function fastestDirectories(): string[] {
  const candidates = ['/dev/shm', `/run/user/${ownUid()}`];
  const usable = candidates.filter((path) => {
    try {
      accessSync(path, constants.W_OK | constants.X_OK);
      return statfsSync(path).type === TMPFS_MAGIC;
    } catch {
      // Missing, or not writable: the next one is tried.
      return false;
    }
  });
  return [...usable, tmpdir()];
}

/** Mode of a directory in which the processes of other users have directories of their own: it can be passed, not listed. */
const PASSABLE = 0o711;

/**
 * Creates a directory that only this user can read or change, and rejects one that another user has prepared. Others may
 * be able to pass through one that exists.
 */
export function makePrivate(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const stat = lstatSync(path);
  if (!stat.isDirectory() || stat.uid !== ownUid() || (stat.mode & 0o066) !== 0) {
    throw new AdapterError('INTERNAL', `${path} is not a private directory of this user: remove it`);
  }
}

/** Where the FIFOs and files of processes are. */
export interface ProcessDirectory {
  readonly path: string;
  /** Id of this instance of the daemon, the prefix of the tags of all its processes. */
  readonly instance: string;
  /** The user of the processes, if it is not the daemon's. */
  readonly owner?: FileOwner | undefined;
  /**
   * Creates the directory again if it has been removed.
   * @throws Error when that cannot be done
   */
  ensure(): void;
}

/** A daemon's directory for FIFOs and files with the lifetime of the daemon. */
export class RuntimeDirectory implements ProcessDirectory {
  readonly path: string;
  /** Id of this instance of the daemon, the prefix of the tags of all its processes. */
  readonly instance: string;
  readonly #restorers: (() => void)[] = [];

  constructor(parent: string, instance: string) {
    this.path = join(parent, instance);
    this.instance = instance;
    this.#make();
  }

  /** Registers a callback that is called whenever the directory was created again, empty. */
  onRestored(restore: () => void): void {
    this.#restorers.push(restore);
  }

  /**
   * Creates the directory again if it has been removed: systemd-logind does so when the user logs out (RemoveIPC), and
   * so do people.
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

/**
 * The directory of another user's processes, below that of the daemon. It belongs to the daemon, and so does everything
 * in it but the files that are for that user: a user that could replace entries could make the daemon follow its links.
 */
export class UserRuntimeDirectory implements ProcessDirectory {
  readonly path: string;
  readonly instance: string;
  readonly owner: FileOwner;
  readonly #parent: RuntimeDirectory;

  constructor(parent: RuntimeDirectory, owner: FileOwner) {
    this.#parent = parent;
    this.owner = owner;
    this.instance = parent.instance;
    this.path = this.#freePath();
    this.ensure();
  }

  /** Two names may have one user id, and a user may get another home: each has its own files. */
  #freePath(number = 1): string {
    const path = join(this.#parent.path, `user-${this.owner.uid}${number === 1 ? '' : `.${number}`}`);
    return existsSync(path) ? this.#freePath(number + 1) : path;
  }

  ensure(): void {
    if (existsSync(this.path)) return;
    this.#parent.ensure();
    for (const path of [dirname(this.#parent.path), this.#parent.path]) chmodSync(path, PASSABLE);
    makeDirectoryFor(this.owner, this.path);
  }
}

/** A daemon that has ended without cleaning up. */
export interface DeadInstance {
  readonly instance: string;
  readonly path: string;
}

/**
 * Creates the directory of this instance, named by its id.
 * @param bases parent directories, of which the first usable one is taken; by default on a tmpfs, else the temporary
 *   directory
 */
export function makeRuntimeDirectory(
  platform: Platform,
  bases: readonly string[] = fastestDirectories(),
): RuntimeDirectory {
  const instance = createInstanceId(platform);
  const [base = tmpdir(), ...others] = bases;
  try {
    return new RuntimeDirectory(join(base, `shell-adapter-${ownUid()}`), instance);
  } catch (error) {
    // Another user has prepared it, or the disk is full.
    if (others.length === 0) throw error;
    return makeRuntimeDirectory(platform, others);
  }
}

/** Finds the directories beside this one whose daemons are dead, for example killed, without removing them. */
export function findDeadInstances(own: RuntimeDirectory, liveness: LivenessMarker): DeadInstance[] {
  const parent = dirname(own.path);
  return readdirSync(parent)
    .filter((instance) => !liveness.isAlive(instance))
    .map((instance) => ({ instance, path: join(parent, instance) }));
}
