import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { AdapterError } from '../../core/errors.js';
import { membersBelow, removeGroup } from '../limits/control-group.js';
import type { Platform } from '../platform/platform.js';
import { type FileOwner, makeDirectoryFor, ownUid } from '../system/own-user.js';
import { readSmallFile, removeTree, removeTreeSync } from '../system/local-files.js';
import { TMPFS_MAGIC } from '../system/mounts.js';
import { createInstanceId, type LivenessMarker } from './liveness-marker.js';

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
function makePrivate(path: string): void {
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
interface DeadInstance {
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

/** A directory that is removed with its contents. */
export interface ScratchDirectory extends AsyncDisposable {
  readonly path: string;
}

/**
 * Creates temporary directories, on a disk: a tmpfs such as /dev/shm often forbids execution, and uses memory. All of
 * them are below one directory of this instance, so that a successor finds those of a killed daemon.
 */
export class Scratch implements AsyncDisposable {
  readonly #path: string;

  /**
   * @param instance id of this instance of the daemon
   * @param liveness determines which directories were left by a killed daemon
   */
  constructor(instance: string, liveness: LivenessMarker) {
    const parent = join(tmpdir(), `shell-adapter-scratch-${ownUid()}`);
    makePrivate(parent);
    for (const name of readdirSync(parent)) {
      if (!liveness.isAlive(name)) removeTreeSync(join(parent, name));
    }
    this.#path = join(parent, instance);
  }

  /** Creates a directory that only this user can enter. */
  async make(): Promise<ScratchDirectory> {
    await mkdir(this.#path, { mode: 0o700, recursive: true });
    const path = await mkdtemp(join(this.#path, 'run-'));
    return { path, [Symbol.asyncDispose]: () => removeTree(path) };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return removeTree(this.#path);
  }
}

/** File in a daemon's runtime directory that lists its control groups, one per line. */
const FILE = 'control-groups';
/** Longest wait until killed processes have left their group, and the polling interval, both in milliseconds. */
const END_MS = 200;
const POLL_MS = 5;

/** Records the control groups of this instance; a successor removes them if this instance was killed. */
export function noteGroups(runtimePath: string, directories: readonly string[]): void {
  writeFileSync(join(runtimePath, FILE), directories.map((directory) => `${directory}\n`).join(''), { mode: 0o600 });
}

/** Control groups that a dead daemon has left. */
interface LeftGroups {
  /** Returns the processes in the groups. */
  members(): readonly number[];
  /** Removes the groups; those that still hold processes stay. */
  remove(): void;
}

/** Returns the control groups of the daemon with this runtime directory. */
export function groupsOf(runtimePath: string): LeftGroups {
  const directories = (readSmallFile(join(runtimePath, FILE)) ?? '').split('\n').filter((line) => line !== '');
  return {
    members: () => directories.flatMap(membersBelow),
    remove: () => {
      const deadline = performance.now() + END_MS;
      for (const directory of directories) {
        while (!removeGroup(directory) && performance.now() < deadline) pause(POLL_MS);
      }
    },
  };
}

/** Blocks the thread for `ms` milliseconds, in a process that is about to exit and must not do anything else before. */
const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
