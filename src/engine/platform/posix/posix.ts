import { constants, fstatSync } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { availableParallelism, cpus, freemem, hostname, loadavg, networkInterfaces, totalmem } from 'node:os';

import { pidExists } from '../../system/signals.js';
import {
  type CpuTime,
  type Directories,
  isRunning,
  type Machine,
  type MachineReading,
  type MemoryBytes,
  type NetBytes,
  type Platform,
  type ProcessClock,
  type ProcessEntry,
  type Processes,
  type ProcessOrigins,
  type ProcessStates,
  type ProcessTable,
  shownCommandLine,
  MS_PER_TICK,
  TICKS_PER_SECOND,
} from '../platform.js';
import { posixListening, posixPeers } from './sockets.js';
import { ProcessSnapshots, START_SLACK_TICKS } from './process-snapshots.js';

/**
 * Plain paths, which are checked when a directory is opened: without openat(2), what is moved or linked to the path after
 * that is followed.
 */
const posixDirectories: Directories = {
  passFlags: constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW,
  rootOf: (_fd, path) => (path === '/' ? '/.' : path),
  placeOf: async (fd, path) => {
    const [real, there] = await Promise.all([realpath(path), lstat(path)]);
    const { dev, ino } = fstatSync(fd);
    return there.dev === dev && there.ino === ino ? real : undefined;
  },
};

/** Reads the use of the machine by Node.js and, what that does not know, by the programs that `systeminformation` runs. */
class PosixMachine implements Machine {
  #memory: MemoryBytes = { total: totalmem(), used: totalmem() - freemem() };
  #net: NetBytes = { received: 0, sent: 0 };

  read(): MachineReading {
    const [load1 = 0] = loadavg();
    return { cpu: cpuTime(), cpus: availableParallelism(), load1, memory: this.#memory, net: this.#net };
  }

  async refresh(): Promise<void> {
    // Loaded with the first reading: it takes a tenth of a second.
    const { mem, networkStats } = await import('systeminformation');
    const [{ total, available }, interfaces] = await Promise.all([mem(), networkStats('*')]);
    const own = networkInterfaces();
    const others = interfaces.filter(({ iface }) => own[iface]?.some(({ internal }) => internal) !== true);
    this.#memory = { total, used: total - available };
    this.#net = {
      received: others.reduce((sum, { rx_bytes: bytes }) => sum + bytes, 0),
      sent: others.reduce((sum, { tx_bytes: bytes }) => sum + bytes, 0),
    };
  }
}

function cpuTime(): CpuTime {
  const times = cpus().map((cpu) => cpu.times);
  const total = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0);
  return { busy: total - times.reduce((sum, { idle }) => sum + idle, 0), total };
}

/** Longest time from fork(2) to exec(2), on a loaded machine too, and the resolution of start times, in clock ticks. */
const EXEC_TICKS = 1.3 * TICKS_PER_SECOND;

const ticksNow = (): number => Date.now() / MS_PER_TICK;

const isSameStart = (a: number, b: number): boolean => Math.abs(a - b) <= START_SLACK_TICKS;

/** Reads one process: what ps(1) has just shown, as long as kill(2) finds the pid. */
function readFrom(snapshots: ProcessSnapshots, pid: number): ProcessEntry | undefined {
  if (pid <= 0 || !pidExists(pid)) return undefined;
  // It may have been started since.
  return snapshots.recent.entries.get(pid) ?? snapshots.current.entries.get(pid);
}

function tableOf(snapshots: ProcessSnapshots): ProcessTable {
  const children = (pid: number) => [...snapshots.recent.entries.values()].filter(({ parent }) => parent === pid);
  return {
    ask: (ask, age, measured) => snapshots.ask(ask, age, measured),
    listMs: () => snapshots.costMs,
    read: (pid) => readFrom(snapshots, pid),
    readNow: (pid) => snapshots.take().entries.get(pid),
    readCheaply: (pid, since) => (snapshots.last.begunAt >= since ? snapshots.last.entries.get(pid) : undefined),
    list: () => [...snapshots.current.entries.values()],
    pids: () => [...snapshots.current.entries.keys()],
    childrenOf: children,
    // ps(1) separates arguments by blanks, which they may contain.
    argumentsOf: () => [],
    commandLine: ({ pid, name }) => shownCommandLine(snapshots.lineOf(pid, snapshots.recent) ?? `[${name}]`),
    followProgram: (pid) => {
      snapshots.follow(pid);
    },
    programOf: (pid) => snapshots.recent.programs.get(pid),
    whereabouts: (pid) => ({ state: readFrom(snapshots, pid)?.state ?? 'gone', waitsIn: 'unknown' }),
    innermostPid: (pid) => pid,
  };
}

function originsOf(snapshots: ProcessSnapshots): ProcessOrigins {
  const tagOf = (pid: number) => snapshots.recent.tags.get(pid);
  return {
    tagOf,
    originOf: ({ pid }) => tagOf(pid),
    identityOf: (pid) => {
      const entry = readFrom(snapshots, pid);
      return entry && isRunning(entry) ? `posix-${hostname()}/${pid}/${entry.startTicks}` : undefined;
    },
  };
}

function statesOf(snapshots: ProcessSnapshots): ProcessStates {
  return {
    isAlive: ({ pid, startTicks }) => {
      const now = readFrom(snapshots, pid);
      return now !== undefined && isSameStart(now.startTicks, startTicks) && isRunning(now);
    },
    isEnding: ({ pid }) => {
      const now = readFrom(snapshots, pid);
      return now === undefined || !isRunning(now);
    },
    handlesSignal: () => true,
    isYoung: ({ startTicks }) => ticksNow() - startTicks < EXEC_TICKS,
    isWaitingForCpu: () => false,
    isWaitingCopy: () => false,
    isBeforeExec: () => false,
    mayExec: () => false,
    exitSignal: () => 0,
    isThread: () => false,
  };
}

function clockOf(snapshots: ProcessSnapshots): ProcessClock {
  const markStart = () => ({ at: performance.now(), newestPid: undefined, older: snapshots.last.starts });
  return {
    ticksNow,
    markStart,
    markRecentStart: markStart,
    startedSince: ({ at, older }) => {
      const tick = ticksNow() - (performance.now() - at) / MS_PER_TICK - START_SLACK_TICKS;
      return ({ pid, startTicks }) => {
        const known = older?.get(pid);
        return startTicks >= tick && (known === undefined || !isSameStart(known, startTicks));
      };
    },
    pidsGivenSince: () => ({
      count: Infinity,
      newest: undefined,
      includes: () => true,
      list: () => [...snapshots.current.entries.keys()],
    }),
    watchForNew: () => ({ hasAny: true }),
  };
}

/** Processes through ps(1) and kill(2). */
function makeProcesses(snapshots = new ProcessSnapshots()): Processes {
  return {
    ...tableOf(snapshots),
    ...originsOf(snapshots),
    ...statesOf(snapshots),
    ...clockOf(snapshots),
    descriptorTarget: () => undefined,
    pipesOf: () => ({ input: undefined, written: [] }),
    isAtWork: () => false,
    fileBeingRead: () => undefined,
    holdsDescriptorOf: () => false,
    isWaiting: () => true,
    findTerminalReader: () => undefined,
    hasTerminalInput: () => true,
    pathInside: (_pid, path) => path,
    replaceArgument: () => false,
    writesOf: () => ({ diskBytes: 0, allBytes: 0 }),
    sharedBytes: () => 0,
    proportionalBytes: () => undefined,
  };
}

/** What POSIX has, and the columns of ps(1) that Linux, macOS and the BSDs share. */
export const posix: Platform = {
  name: 'posix',
  can: {
    controlGroups: false,
    sandbox: false,
    otherUsers: false,
    heldPaths: false,
    openFiles: false,
    marks: false,
    countWrites: false,
  },
  processes: makeProcesses(),
  directories: posixDirectories,
  listening: posixListening,
  peers: posixPeers,
  openMachine: () => new PosixMachine(),
  pidNamespace: () => 0,
  makeFirstVictim: () => undefined,
};
