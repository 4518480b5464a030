import { readdirSync, type Stats, statSync } from 'node:fs';

import type { ProcessEntry } from '../contract/process-entry.js';
import { socketsOf } from './listening.js';
import { descriptorTarget } from './process-files.js';
import { readProc } from './process-table.js';
import { accessOf, connectedUnixSockets, epollDescriptors, terminalIndex } from './wait-set.js';

/** Epoll instances inside of others that are looked into. */
const MAX_NESTING = 3;

/** Device numbers, as stat(2) gives them: Documentation/admin-guide/devices.txt of the kernel. */
const DEV_TTY = (5 << 8) | 0;
const DEV_PTMX = (5 << 8) | 2;

/** A terminal whose readers are looked for. */
export interface Terminal {
  /** Whether a file is this terminal, by whatever path: a sandbox shows it as /dev/console. */
  readonly is: (file: Stats) => boolean;
  /** Whether it is the controlling terminal of a process: what /dev/tty means there. */
  readonly controls: (entry: ProcessEntry) => boolean;
}

/** What a descriptor that is waited for means to the search. `own`: the program wakes itself by it. */
export type Meaning =
  | { readonly kind: 'terminal' | 'own' | 'unix' | 'other' }
  /** The other side of a terminal, on which the program runs others. */
  | { readonly kind: 'inner'; readonly index: number };

const EPOLL = 'anon_inode:[eventpoll]';
/** No other program can send something by these: eventfd, timerfd, signalfd, inotify, pidfd, io_uring. */
const WAKE_UP = /^(?:anon_inode:|pidfd:)/;
const PIPE = /^pipe:\[\d+\]$/;
const SOCKET = /^socket:\[(\d+)\]$/;

/** The descriptors of a process, as far as it waits for them. */
export class WaitedDescriptors {
  readonly #entry: ProcessEntry;
  readonly #terminal: Terminal;
  /** Its connected unix sockets; read when the first socket is met. */
  #unix: ReturnType<typeof connectedUnixSockets> | undefined;

  constructor(entry: ProcessEntry, terminal: Terminal) {
    this.#entry = entry;
    this.#terminal = terminal;
  }

  /** Returns what a descriptor means: of an epoll instance, what those in it mean. */
  readonly meaningsOf = (descriptor: number): readonly Meaning[] => this.#meaningsOf(descriptor, 0);

  #meaningsOf(descriptor: number, nesting: number): readonly Meaning[] {
    const target = descriptorTarget(this.#entry.pid, descriptor);
    // It has been closed, or the process has ended.
    if (target === undefined || nesting > MAX_NESTING) return [];
    if (target !== EPOLL) return [this.#meaning(target, descriptor)];
    return epollDescriptors(this.#infoOf(descriptor)).flatMap((inner) => this.#meaningsOf(inner, nesting + 1));
  }

  #meaning(target: string, descriptor: number): Meaning {
    if (WAKE_UP.test(target)) return { kind: 'own' };
    if (PIPE.test(target)) return { kind: this.#writesTo(target) ? 'own' : 'other' };
    const inode = SOCKET.exec(target)?.[1];
    if (inode !== undefined) return { kind: this.#socketKind(Number(inode)) };
    // Of other files only named pipes are waited for. No stat(2): it could wait for a file system that does not answer.
    if (!target.startsWith('/dev/')) return { kind: accessOf(this.#infoOf(descriptor)) === 'both' ? 'own' : 'other' };
    return this.#device(descriptor);
  }

  #device(descriptor: number): Meaning {
    const entry = this.#entry;
    const file = statSync(`/proc/${entry.pid}/fd/${descriptor}`, { throwIfNoEntry: false });
    if (file?.rdev === DEV_PTMX) return { kind: 'inner', index: terminalIndex(this.#infoOf(descriptor)) };
    const isTerminal = file && (file.rdev === DEV_TTY ? this.#terminal.controls(entry) : this.#terminal.is(file));
    return { kind: isTerminal ? 'terminal' : 'other' };
  }

  /** Whether the process has the other end of a pipe, too. */
  #writesTo(pipe: string): boolean {
    const { pid } = this.#entry;
    return descriptorsOf(pid).some((fd) => descriptorTarget(pid, fd) === pipe && accessOf(this.#infoOf(fd)) !== 'read');
  }

  #socketKind(inode: number): 'own' | 'unix' | 'other' {
    const { pid } = this.#entry;
    this.#unix ??= connectedUnixSockets(readProc(pid, 'net/unix') ?? '');
    if (!this.#unix.has(inode)) return 'other';
    return isHalfOfPair(inode, socketsOf(pid), this.#unix) ? 'own' : 'unix';
  }

  #infoOf(descriptor: number): string {
    return readProc(this.#entry.pid, `fdinfo/${descriptor}`) ?? '';
  }
}

function descriptorsOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map(Number);
  } catch {
    // It has ended.
    return [];
  }
}

/**
 * Whether a unix socket is one of a pair in one process. socketpair(2) gives consecutive inodes. Where more than two are in a row,
 * it cannot be told which belong together: none counts then.
 */
function isHalfOfPair(
  inode: number,
  sockets: readonly number[],
  unix: ReadonlyMap<number, { readonly hasName: boolean }>,
): boolean {
  const isNameless = (other: number) => sockets.includes(other) && unix.get(other)?.hasName === false;
  if (!isNameless(inode)) return false;
  const [before, after] = [isNameless(inode - 1), isNameless(inode + 1)];
  if (before === after) return false;
  return !isNameless(before ? inode - 2 : inode + 2);
}
