import { closeSync, openSync, readdirSync, readSync, type Stats, statSync } from 'node:fs';

import type { ProcessEntry, TerminalReader } from '../platform.js';
import { socketIn, socketsOf } from './sockets.js';
import { childPidsOf, descriptorsOf, descriptorTarget, readProc, readProcess } from './process-table.js';
import {
  accessOf,
  connectedUnixSockets,
  controllingTerminal,
  epollDescriptors,
  isFor64Bits,
  type ReadMemory,
  terminalIndex,
  type WaitSet,
  waitSetOf,
} from './wait-set.js';

/** Epoll instances inside of others that are looked into. */
const MAX_NESTING = 3;

/** Device numbers, as stat(2) gives them: Documentation/admin-guide/devices.txt of the kernel. */
const DEV_TTY = (5 << 8) | 0;
const DEV_PTMX = (5 << 8) | 2;

/** A terminal whose readers are looked for. */
interface Terminal {
  /** Whether a file is this terminal, by whatever path: a sandbox shows it as /dev/console. */
  readonly is: (file: Stats) => boolean;
  /** Whether it is the controlling terminal of a process: what /dev/tty means there. */
  readonly controls: (entry: ProcessEntry) => boolean;
}

/** What a descriptor that is waited for means to the search. `own`: the program wakes itself by it. */
type Meaning =
  | { readonly kind: 'terminal' | 'own' | 'unix' | 'other' }
  /** The other side of a terminal, on which the program runs others. */
  | { readonly kind: 'inner'; readonly index: number };

const EPOLL = 'anon_inode:[eventpoll]';
/** No other program can send something by these: eventfd, timerfd, signalfd, inotify, pidfd, io_uring. */
const WAKE_UP = /^(?:anon_inode:|pidfd:)/;
const PIPE = /^pipe:\[\d+\]$/;

/** The descriptors of a process, as far as it waits for them. */
class WaitedDescriptors {
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
    const inode = socketIn(target);
    if (inode !== undefined) return { kind: this.#socketKind(inode) };
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

/** Most threads of a process that are looked at: programs that read a terminal have a few. */
const MAX_THREADS = 64;
/** Major device number of terminals: Documentation/admin-guide/devices.txt of the kernel. */
const TERMINAL_MAJOR = 136;

/** How a process, by the one of its threads that waits most clearly, waits for a terminal. */
interface ProcessWait {
  readonly kind: TerminalReader['kind'] | 'none';
  readonly timeoutMs: number;
  /** Whether it waits for a program at the other end of a unix socket. */
  readonly waitsForUnix: boolean;
}

const RANKS = ['only', 'also', 'hidden', 'none'] as const;
const NOT_WAITING: ProcessWait = { kind: 'none', timeoutMs: Infinity, waitsForUnix: false };

const clearer = <T extends Pick<ProcessWait, 'kind'>>(a: T, b: T): T =>
  RANKS.indexOf(b.kind) < RANKS.indexOf(a.kind) ? b : a;

/**
 * Finds the program that waits for input of a terminal, by what its threads wait for: the foreground of the terminal, and
 * programs of other sessions, which have no foreground there, such as the server of screen(1). Of these only those that the shell
 * has started, and if the foreground waits for a unix socket also `outside`: pinentry is started by an agent.
 * @param path of the terminal
 */
export function findTerminalReader(
  shellPid: number,
  path: string,
  outside: () => readonly number[] = () => [],
): TerminalReader | undefined {
  const shell = readProcess(shellPid);
  const terminal = shell && terminalAt(path, shell);
  if (!terminal) return undefined;
  const tree = treeOf(shell);
  const mayRead = (entry: ProcessEntry) => entry.session !== shell.session || entry.group === shell.foregroundGroup;
  const found = clearest(tree.filter(mayRead), terminal);
  if (found.kind !== 'none' || !found.waitsForUnix) return readerOf(found);
  const known = new Set(tree.map(({ pid }) => pid));
  const others = outside().flatMap((pid) => (known.has(pid) ? [] : (readProcess(pid) ?? [])));
  return readerOf(
    clearest(
      others.filter((entry) => entry.session !== shell.session),
      terminal,
    ),
  );
}

function terminalAt(path: string, { session }: ProcessEntry): Terminal | undefined {
  const file = statSync(path, { throwIfNoEntry: false });
  return (
    file && {
      is: ({ dev, ino }) => dev === file.dev && ino === file.ino,
      controls: (entry) => entry.session === session,
    }
  );
}

/** A terminal that a program has opened to run others on it. */
function innerTerminal(index: number): Terminal {
  const device = (TERMINAL_MAJOR << 8) | (index & 0xff) | ((index & ~0xff) << 12);
  return {
    is: ({ rdev }) => rdev === device,
    controls: ({ pid }) => controllingTerminal(readProc(pid, 'stat') ?? '') === device,
  };
}

function treeOf(root: ProcessEntry): ProcessEntry[] {
  const found: ProcessEntry[] = [];
  const pending = [root];
  for (let entry = pending.pop(); entry; entry = pending.pop()) {
    found.push(entry);
    pending.push(...childPidsOf(entry.pid).flatMap((pid) => readProcess(pid) ?? []));
  }
  return found;
}

type FoundWait = ProcessWait & { readonly pid: number };

function clearest(entries: readonly ProcessEntry[], terminal: Terminal): FoundWait {
  let best: FoundWait = { ...NOT_WAITING, pid: 0 };
  let waitsForUnix = false;
  for (const entry of entries) {
    const wait = waitOf(entry, terminal);
    waitsForUnix ||= wait.waitsForUnix;
    best = clearer(best, { ...wait, pid: entry.pid });
    if (best.kind === 'only') break;
  }
  return { ...best, waitsForUnix };
}

const readerOf = ({ pid, kind, timeoutMs }: FoundWait): TerminalReader | undefined =>
  kind === 'none' ? undefined : { pid, kind, timeoutMs };

function waitOf(entry: ProcessEntry, terminal: Terminal): ProcessWait {
  if (entry.state === 'Z') return NOT_WAITING;
  const sets = waitSets(entry.pid);
  // EACCES: the program belongs to another user, or changes its user, as sudo(8) does.
  if (!sets) return { ...NOT_WAITING, kind: terminal.controls(entry) ? 'hidden' : 'none' };
  // The calls of 32-bit programs have other numbers.
  if (sets.length === 0 || !isFor64Bits(readProc(entry.pid, 'auxv') ?? '')) return NOT_WAITING;
  const descriptors = new WaitedDescriptors(entry, terminal);
  const waits = sets.map((set) => judge(set, descriptors, entry));
  const best = waits.reduce(clearer);
  return { ...best, waitsForUnix: waits.some(({ waitsForUnix }) => waitsForUnix) };
}

/** What the threads of a process wait for; undefined if it is not shown to this user. */
function waitSets(pid: number): WaitSet[] | undefined {
  if (readProc(pid, 'syscall') === undefined) return readProcess(pid) ? undefined : [];
  const memory = memoryOf(pid);
  return threadsOf(pid).flatMap((thread) => {
    const syscall = readProc(pid, `task/${thread}/syscall`);
    const wchan = () => readProc(pid, `task/${thread}/wchan`);
    return (syscall !== undefined && waitSetOf({ syscall, wchan }, memory)) || [];
  });
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).slice(0, MAX_THREADS);
  } catch {
    // It has ended.
    return [];
  }
}

/** proc_pid_mem(5): the process need not be stopped. */
const memoryOf =
  (pid: number): ReadMemory =>
  (address, bytes) => {
    let file: number | undefined;
    try {
      file = openSync(`/proc/${pid}/mem`, 'r');
      const buffer = Buffer.alloc(bytes);
      return readSync(file, buffer, 0, bytes, address) === bytes ? buffer : undefined;
    } catch {
      // EACCES, or it has ended, or the thread goes on and the arguments are of another call.
      return undefined;
    } finally {
      if (file !== undefined) closeSync(file);
    }
  };

function judge({ descriptors, timeoutMs }: WaitSet, known: WaitedDescriptors, entry: ProcessEntry): ProcessWait {
  const meanings = descriptors.flatMap(known.meaningsOf);
  const waitsForUnix = meanings.some(({ kind }) => kind === 'unix');
  if (!meanings.some(({ kind }) => kind === 'terminal')) return { ...NOT_WAITING, waitsForUnix };
  const others = meanings.filter(({ kind }) => kind !== 'terminal' && kind !== 'own');
  if (others.length === 0) return { kind: 'only', timeoutMs, waitsForUnix };
  const inner = others.flatMap((meaning) => (meaning.kind === 'inner' ? [meaning.index] : []));
  if (inner.length < others.length) return { kind: 'also', timeoutMs, waitsForUnix };
  const waits = inner.map((index) => innerWait(entry, index));
  return waits.reduce(clearer);
}

/** Who passes keys on, as script(1) does, waits if a program in the foreground of the inner terminal does. */
function innerWait(entry: ProcessEntry, index: number): ProcessWait {
  const terminal = innerTerminal(index);
  const isInForeground = (inner: ProcessEntry) =>
    inner.pid !== entry.pid && inner.group === inner.foregroundGroup && terminal.controls(inner);
  return clearest(treeOf(entry).filter(isInForeground), terminal);
}
