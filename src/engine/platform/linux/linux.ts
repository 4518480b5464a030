import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { readlink } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';

import { BoundedMap } from '../../../core/bounded-map.js';
import { readSmallFile, tryWrite } from '../../system/local-files.js';
import {
  type Directories,
  type Machine,
  type MachineReading,
  type MemoryBytes,
  type Platform,
  type Processes,
  type RelatedProcess,
  TICKS_PER_SECOND,
} from '../platform.js';
import { linuxListening, linuxPeers } from './sockets.js';
import { cpuMsOf, cpusOf, findOwnGroups, memoryOf } from './own-group.js';
import * as table from './process-table.js';
import * as starts from './start-marker.js';
import { findTerminalReader } from './terminal-wait.js';

/** Opens only the place of a directory: open(2). Node.js has no name for it. */
const O_PATH = 0o10000000;

/** Paths through /proc/self/fd, see proc(5), because Node.js has no openat(2). */
export const linuxDirectories: Directories = {
  passFlags: O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW,
  rootOf: (fd) => `/proc/self/fd/${fd}`,
  placeOf: (fd) => readlink(`/proc/self/fd/${fd}`),
};

/** Reads the use of the machine from /proc and control groups: about 0.3 ms of CPU time for each reading. */
class LinuxMachine implements Machine {
  readonly #groups = findOwnGroups(totalmem());

  read(): MachineReading {
    const { memory: memoryGroup, cpu: cpuGroup } = this.#groups;
    const limited = cpuGroup === undefined ? undefined : cpusOf(cpuGroup);
    return {
      cpu:
        cpuGroup === undefined || limited === undefined
          ? table.parseCpuTicks(readSmallFile('/proc/stat') ?? '')
          : { busy: cpuMsOf(cpuGroup), total: performance.now() * limited },
      cpus: limited ?? availableParallelism(),
      load1: table.parseLoad(readSmallFile('/proc/loadavg') ?? ''),
      memory: (memoryGroup && memoryOf(memoryGroup)) ?? machineMemory(),
      net: table.parseNetBytes(readSmallFile('/proc/net/dev') ?? ''),
    };
  }

  refresh(): Promise<void> {
    return Promise.resolve();
  }
}

const machineMemory = (): MemoryBytes =>
  table.parseMemory(readSmallFile('/proc/meminfo') ?? '') ?? { total: totalmem(), used: 0 };

/**
 * Added to the kernel's badness score of a process, out of 1000, when it selects one to kill
 * (proc_pid_oom_score_adj(5)).
 */
const VICTIM_SCORE = 500;

/** Makes the OOM killer prefer this process and its descendants to the daemon. */
function makeFirstVictim(pid: number): void {
  // The owner may always raise the score; without the file there is nothing to do.
  tryWrite(`/proc/${pid}/oom_score_adj`, VICTIM_SCORE);
}

/** Positions of arg_start and arg_end in /proc/PID/stat, from behind the name: proc(5). */
const START_FIELD = 48 - 3;
const END_FIELD = 49 - 3;

/**
 * Writes a text over one argument of a process, which has to read that argument later. Zeros follow it. Source: proc(5),
 * /proc/PID/mem.
 * @param args all arguments of the process, the name of the program first
 * @returns false if it has other arguments, because it has not executed its program yet or has ended; if the text is longer
 * than the argument; or if the kernel does not permit it
 */
function replaceArgument(pid: number, args: readonly string[], index: number, text: string): boolean {
  const sizes = args.map((arg) => Buffer.byteLength(arg) + 1);
  const offset = sum(sizes.slice(0, index));
  const room = Buffer.alloc(sizes[index] ?? 0);
  if (Buffer.byteLength(text) >= room.length) return false;
  room.write(text);
  try {
    const memory = openSync(`/proc/${pid}/mem`, 'r+');
    try {
      const stat = table.readProc(pid, 'stat') ?? '';
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const start = Number(fields[START_FIELD]);
      if (Number(fields[END_FIELD]) - start !== sum(sizes)) return false;
      return writeSync(memory, room, 0, room.length, start + offset) === room.length;
    } finally {
      closeSync(memory);
    }
  } catch {
    // ENOENT, EIO: it has ended. EACCES, EPERM: ptrace(2) of it is not permitted.
    return false;
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/**
 * Identifies a process across machines, containers, reboots and reused pids: boot id, PID namespace and start time.
 * @returns undefined if there is no such process, or `/proc` does not show it to this user
 */
function processIdentity(pid: number): string | undefined {
  const boot = readSmallFile('/proc/sys/kernel/random/boot_id')?.trim();
  const entry = table.readProcess(pid);
  if (boot === undefined || entry === undefined || entry.state === 'Z' || entry.state === 'X') return undefined;
  const namespace = table.namespaceOf(pid, 'pid');
  return namespace && `${boot}/${namespace}/${entry.startTicks}`;
}

/** The line in /proc/PID/limits: its name, blanks, the soft limit, blanks, and more. */
const LINE = 'Max file locks';
const LINE_LENGTH = 60;
/** Age below which a process may still be about to exec a program with another environment. */
const YOUNG_TICKS = TICKS_PER_SECOND;
/** Processes that are remembered, of each kind. */
const MAX_REMEMBERED = 10_000;

/** Reads the mark of a process; undefined when it has none. About 6 µs. */
export function readMark(pid: number): string | undefined {
  const limits = readSmallFile(`/proc/${pid}/limits`);
  const start = limits?.indexOf(LINE) ?? -1;
  if (limits === undefined || start === -1) return undefined;
  return /^ *(\d+) /.exec(limits.slice(start + LINE.length, start + LINE_LENGTH))?.[1];
}

/**
 * Reads where processes come from, and remembers it for most of them, because reading environments and limits takes most of the time of a
 * search. A tag and a mark are inherited, so a foreign process stays foreign, unless it descends from the daemon. The shell of a session, and
 * whatever else leads a session of the kernel, keeps its origin too; other processes may still get the tag of a command with their program.
 */
export class Origins {
  readonly #foreign = new BoundedMap<number, { readonly startTicks: number; readonly isSure: boolean }>(MAX_REMEMBERED);
  readonly #leaders = new BoundedMap<number, { readonly startTicks: number; readonly origin: string }>(MAX_REMEMBERED);

  /** Returns the origin of a process: its tag, or without one its mark. Undefined for a foreign process. */
  readonly read = (entry: RelatedProcess): string | undefined => {
    const { pid, startTicks } = entry;
    const known = this.#foreign.get(pid);
    const isKnown = known?.startTicks === startTicks;
    if (isKnown && known.isSure) return undefined;
    const leader = this.#leaders.get(pid);
    if (leader?.startTicks === startTicks) return leader.origin;
    const origin = table.readTag(pid) ?? readMark(pid);
    if (origin !== undefined) this.#noteLeader(entry, origin);
    // The environment is empty for a moment while a program is loaded: it counts when it was so twice.
    else if (isSettled(entry)) this.#foreign.set(pid, { startTicks, isSure: isKnown });
    return origin;
  };

  #noteLeader(entry: RelatedProcess, origin: string): void {
    const { pid, session, startTicks } = entry;
    if (session === pid && !isYoung(entry)) this.#leaders.set(pid, { startTicks, origin });
  }
}

const isYoung = ({ startTicks }: RelatedProcess): boolean => table.ticksNow() - startTicks <= YOUNG_TICKS;

/** Whether a process that is foreign now cannot be one that is just being started for a session. */
const isSettled = (entry: RelatedProcess): boolean => !isYoung(entry) && !descendsFromDaemon(entry);

function descendsFromDaemon({ parent }: RelatedProcess): boolean {
  let pid: number | undefined = parent;
  while (pid !== undefined && pid > 1 && pid !== process.pid) pid = table.readProcess(pid)?.parent;
  return pid === process.pid;
}

/** Processes through /proc: proc(5). */
const processes: Processes = {
  ...table,
  ...starts,
  ask: (ask) => ask(),
  listMs: () => 0,
  read: table.readIfThere,
  readNow: table.readProcess,
  readCheaply: table.readIfThere,
  list: table.listProcesses,
  pids: table.listPids,
  childrenOf: table.listChildren,
  followProgram: () => undefined,
  programOf: (pid) => table.commandLine({ pid, name: '' }),
  tagOf: table.readTag,
  originOf: new Origins().read,
  identityOf: processIdentity,
  findTerminalReader,
  replaceArgument,
  watchForNew: () => new starts.PidCounter(),
};

/** Linux: /proc, control groups, namespaces. */
export const linux: Platform = {
  name: 'linux',
  can: {
    controlGroups: true,
    sandbox: true,
    otherUsers: true,
    heldPaths: true,
    openFiles: true,
    marks: true,
    countWrites: true,
  },
  processes,
  directories: linuxDirectories,
  listening: linuxListening,
  peers: linuxPeers,
  openMachine: () => new LinuxMachine(),
  pidNamespace: () => Number(/\d+/.exec(table.namespaceOf('self', 'pid') ?? '')?.[0] ?? 0),
  makeFirstVictim,
};
