import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';

import type { Log } from '../../core/log.js';
import type { Place } from '../../core/sandbox.js';
import { linux } from '../platform/linux/linux.js';
import { listChildren, namespaceOf, pathInside } from '../platform/linux/process-table.js';
import { sandboxRoot } from '../process/find-processes.js';
import { runApart } from '../process/run-apart.js';
import { findProgram } from '../shells/list.js';
import { ownUid } from '../system/own-user.js';
import { statOf } from '../system/local-files.js';
import { isWatched, type Sandbox, type WatchedNames } from './sandbox.js';

/** Programs that change the mounts of a sandbox that runs. */
interface CoverPrograms {
  readonly perl: string;
  readonly nsenter: string;
  readonly shell: string;
}

/**
 * Enters the mount namespace of a process, and the user namespace that owns it, then runs a program there. bubblewrap
 * leaves its program in a user namespace below the owner, so /proc names the wrong one: only the system call
 * ioctl(NS_GET_USERNS) tells the owner.
 * Source: ioctl_ns(2).
 */
const ENTER = `
use strict;
$^F = 99;
my ($pid, $nsenter, $option, @command) = @ARGV;
open(my $mounts, '<', "/proc/$pid/ns/mnt") or die "the mount namespace of $pid: $!\\n";
my $owner = ioctl($mounts, 0xb701, 0) or die "its user namespace: $!\\n";
open(my $users, '<&', int($owner)) or die "its user namespace: $!\\n";
my @enter = ('--mount=/proc/self/fd/' . fileno($mounts));
my $theirs = '/proc/self/fd/' . fileno($users);
push @enter, "--user=$theirs", $option eq '' ? () : $option if readlink($theirs) ne readlink('/proc/self/ns/user');
exec $nsenter, @enter, '--', @command or die "$nsenter: $!\\n";
`;

/** Mounts an empty file or directory on each path. Arguments: view and path, in turn. */
const MOUNT = `
code=0
while [ $# -gt 1 ]; do
  if [ "$1" = empty-file ]; then mount --bind /dev/null "$2"
  else mount -t tmpfs -o ro,size=4k,mode=0555 empty "$2"
  fi || code=1
  shift 2
done
exit $code
`;

/** Finds the programs that `coverAgain` needs; a text says which one is missing. */
export function findCoverPrograms(path: string): CoverPrograms | string {
  const found = (['perl', 'nsenter', 'mount'] as const).map((name) => [name, findProgram(name, path)] as const);
  const missing = found.filter(([, program]) => program === undefined).map(([name]) => name);
  if (missing.length > 0) return `${missing.join(', ')} not on PATH`;
  const { perl = '', nsenter = '' } = Object.fromEntries(found);
  return { perl, nsenter, shell: '/bin/sh' };
}

/**
 * Hides places in a sandbox that runs, as they are hidden at its start.
 * @param pid a process in the sandbox
 * @throws Error when that fails
 */
async function coverAgain(programs: CoverPrograms, pid: number, places: readonly Place[]): Promise<void> {
  // Root becomes the user whose sandbox it is, as whom mount(8) is root in the namespace; others are that user already.
  const option = ownUid() === 0 ? '' : '--preserve-credentials';
  const mount = [programs.shell, '-c', MOUNT, 'sh', ...places.flatMap(({ view, path }) => [view, path])];
  const command = [programs.perl, '-e', ENTER, String(pid), programs.nsenter, option, ...mount];
  const { exitCode, stderr } = await runApart(command);
  if (exitCode !== 0) throw new Error(stderr.trim() || `exit code ${exitCode}`);
}

/**
 * Returns one process of each mount namespace below a process: a program in a sandbox may have made more of them, with
 * copies of its mounts.
 */
function mountNamespaces(ancestor: number): readonly number[] {
  const found = new Map<string, number>();
  const visit = (pid: number): void => {
    for (const child of listChildren(pid)) {
      // Of what has rights that the daemon has not, it is undefined: that is none of its programs.
      const namespace = namespaceOf(child.pid, 'mnt');
      if (namespace !== undefined && !found.has(namespace)) found.set(namespace, child.pid);
      visit(child.pid);
    }
  };
  visit(ancestor);
  return [...found.values()];
}

/** Delay before a sandbox that is being started is looked at again, in milliseconds. */
const STARTING_MS = 50;

/** A process that may have been started in a sandbox. */
export interface SandboxedProcess {
  /** The process that the daemon has started: bubblewrap. Undefined until it runs. */
  readonly pid: number | undefined;
}

/**
 * Keeps files and directories hidden in sandboxes that run. Linux removes a mount when the file below it is replaced or
 * removed, so a login that is saved again would become readable; one that has not existed before has no mount at all.
 * Both are covered some milliseconds later.
 */
export class CoverKeeper implements Disposable {
  readonly #sandbox: Sandbox;
  readonly #programs: CoverPrograms | string;
  readonly #log: Log;
  readonly #processes = new Set<SandboxedProcess>();
  readonly #watches = new Map<string, DirectoryWatch>();
  #names: WatchedNames = new Map();
  #isChecking = false;
  #mustCheckAgain = false;
  #timer: NodeJS.Timeout | undefined;
  #isDisposed = false;

  /**
   * @param sandbox gives the mounts of one that would be started now, and the names whose appearance may change them
   * @param programs a text says why places cannot be hidden again
   */
  constructor(sandbox: Sandbox, programs: CoverPrograms | string, log: Log) {
    this.#sandbox = sandbox;
    this.#programs = programs;
    this.#log = log;
  }

  /** Keeps the places hidden for a process until it has ended. */
  keepFor(started: SandboxedProcess): void {
    if (this.#isDisposed) return;
    if (this.#processes.size === 0 && this.#watches.size === 0) this.#watchAll();
    this.#processes.add(started);
  }

  /** Forgets a process that has ended. */
  forget(ended: SandboxedProcess): void {
    this.#processes.delete(ended);
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
    for (const { watcher } of this.#watches.values()) watcher.close();
    this.#watches.clear();
    this.#processes.clear();
  }

  #noteChange(): void {
    if (this.#isDisposed) return;
    this.#mustCheckAgain = true;
    if (!this.#isChecking) void this.#checkUntilStill();
  }

  async #checkUntilStill(): Promise<void> {
    this.#isChecking = true;
    try {
      while (this.#mustCheckAgain && !this.#isDisposed) {
        this.#mustCheckAgain = false;
        // First the watches: what changes after them is noticed.
        this.#watchAll();
        const places = this.#sandbox.covers().filter(isHidden);
        await Promise.all([...this.#processes].map((each) => this.#check(each, places)));
      }
    } catch (error) {
      this.#log.error('secrets that change cannot be hidden in running sandboxes', { why: messageOf(error) });
    } finally {
      this.#isChecking = false;
    }
  }

  async #check(each: SandboxedProcess, places: readonly Place[]): Promise<void> {
    const root = each.pid === undefined ? undefined : sandboxRoot(each.pid, linux.processes);
    if (root === undefined) {
      this.#checkLater();
      return;
    }
    await Promise.all(mountNamespaces(root.sessionLeader).map((pid) => this.#coverIn(pid, places)));
  }

  /** Covers what has lost its mount in the namespace of a process. */
  async #coverIn(pid: number, places: readonly Place[]): Promise<void> {
    const exposed = () => places.filter(({ path }) => isSameFile(path, pathInside(pid, path)));
    const found = exposed();
    if (found.length === 0) return;
    const [programs, log] = [this.#programs, this.#log];
    const paths = found.map(({ path }) => path);
    try {
      if (typeof programs === 'string') throw new Error(programs);
      await coverAgain(programs, pid, found);
      // A program may have copied the mounts meanwhile, without these.
      this.#mustCheckAgain = true;
      log.debug('secrets that have changed are hidden again in a running sandbox', { paths, pid });
    } catch (error) {
      // It may have ended, or the file may have gone, meanwhile.
      if (exposed().length === 0) return;
      log.error('secrets that have changed can be read in a running sandbox', { paths, pid, why: messageOf(error) });
    }
  }

  #checkLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#noteChange();
    }, STARTING_MS).unref();
  }

  /** Watches exactly the directories that matter now. */
  #watchAll(): void {
    this.#names = this.#sandbox.watchedNames();
    for (const [directory, watched] of this.#watches) {
      if (!this.#names.has(directory) || inodeOf(directory) !== watched.inode) this.#unwatch(directory, watched);
    }
    for (const directory of this.#names.keys()) if (!this.#watches.has(directory)) this.#watch(directory);
  }

  #watch(directory: string): void {
    try {
      const inode = inodeOf(directory);
      const watcher = watch(directory, { persistent: false }, (event, name) => {
        // `change` is new content, or another mode, of the same file: its mount stays.
        if (event === 'rename' && (name === null || isWatched(this.#names, join(directory, name)))) this.#noteChange();
      });
      const watched = { watcher, inode };
      watcher.on('error', () => {
        this.#unwatch(directory, watched);
        this.#noteChange();
      });
      this.#watches.set(directory, watched);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // It has gone meanwhile, or is not for the programs in the sandbox either.
      if (code === 'ENOENT' || code === 'EACCES') return;
      this.#log.warn('changes of secrets in a directory cannot be noticed', {
        directory,
        why: messageOf(error),
      });
    }
  }

  #unwatch(directory: string, watched: DirectoryWatch): void {
    watched.watcher.close();
    if (this.#watches.get(directory) === watched) this.#watches.delete(directory);
  }
}

/** A watch stays with the directory that it was made for, which may be replaced by another one. */
interface DirectoryWatch {
  readonly watcher: FSWatcher;
  readonly inode: number | undefined;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const inodeOf = (path: string): number | undefined => statOf(path)?.ino;

const isHidden = ({ view }: Place): boolean => view === 'empty-file' || view === 'empty-directory';

/** Whether both paths lead to the same file; false when one of them leads nowhere. */
function isSameFile(one: string, other: string): boolean {
  const [left, right] = [statOf(one), statOf(other)];
  return left !== undefined && left.ino === right?.ino && left.dev === right.dev;
}
