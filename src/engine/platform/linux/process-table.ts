import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { uptime } from 'node:os';

import { followLinks, readBytes, readLink, readSmallFile } from '../../system/local-files.js';
import {
  type CpuTime,
  type MemoryBytes,
  type NetBytes,
  type OpenPipes,
  type ProcessEntry,
  type ProcessId,
  shownCommandLine,
  TAG_VARIABLE,
  TICKS_PER_SECOND,
  type Writes,
} from '../platform.js';
import { accessOf } from './wait-set.js';

/** Reads a file of /proc/PID; undefined when it cannot be read. */
export const readProc = (pid: number, file: string): string | undefined => readSmallFile(`/proc/${pid}/${file}`);

/** Characters of /proc/PID/stat. */
const OPENING = 0x28;
const CLOSING = 0x29;
const BLANK = 0x20;
const MINUS = 0x2d;
const ZERO = 0x30;
/** Numeric fields after the name, as far as they are used; shared buffer for one process at a time. */
const numbers = new Float64Array(22);

/** Reads one process, from /proc/PID/stat (proc(5)); undefined when it does not exist. */
export const readProcess = (pid: number): ProcessEntry | undefined =>
  readBytes(`/proc/${pid}/stat`, (bytes, length) => parseStat(pid, bytes, length));

/** Reads a process that has probably ended: an exception costs ten times as much as a look. */
export const readIfThere = (pid: number): ProcessEntry | undefined =>
  existsSync(`/proc/${pid}`) ? readProcess(pid) : undefined;

/** Parses bytes: ten times as fast as splitting a string, and called for every process of the machine. */
function parseStat(pid: number, bytes: Buffer, length: number): ProcessEntry {
  // The name is in parentheses and may contain any character, including parentheses and blanks.
  const end = bytes.lastIndexOf(CLOSING, length - 1);
  let at = end + 4;
  for (let field = 1; field < numbers.length; field += 1, at += 1) {
    const isNegative = bytes[at] === MINUS;
    let value = 0;
    for (at += isNegative ? 1 : 0; at < length && bytes[at] !== BLANK; at += 1)
      value = value * 10 + (bytes[at] ?? 0) - ZERO;
    numbers[field] = isNegative ? -value : value;
  }
  const number = (index: number) => numbers[index] ?? 0;
  return {
    pid,
    name: bytes.toString('latin1', bytes.indexOf(OPENING) + 1, end),
    state: String.fromCharCode(bytes[end + 2] ?? 0),
    parent: number(1),
    group: number(2),
    session: number(3),
    foregroundGroup: number(5),
    startTicks: number(19),
    cpuTicks: number(11) + number(12) + number(13) + number(14),
    threads: number(17),
    residentPages: number(21),
  };
}

/** Returns the pids of all processes of the machine. */
export const listPids = (): number[] =>
  readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    return Number.isInteger(pid) ? [pid] : [];
  });

/** Reads every process of the machine. About 10 µs each. */
export const listProcesses = (): ProcessEntry[] => listPids().flatMap((pid) => readProcess(pid) ?? []);

/** Returns what a process has written: proc_pid_io(5); zeros when not available. */
export function writesOf(pid: number): Writes {
  const text = readProc(pid, 'io') ?? '';
  return {
    diskBytes: Number(/^write_bytes: (\d+)$/m.exec(text)?.[1] ?? 0),
    allBytes: Number(/^wchar: (\d+)$/m.exec(text)?.[1] ?? 0),
  };
}

/** Returns the resident shared memory of a process, in bytes, with mapped files in memory; 0 when not available. */
export const sharedBytes = (pid: number): number =>
  Number(/^RssShmem:\s+(\d+) kB$/m.exec(readProc(pid, 'status') ?? '')?.[1] ?? 0) * 1024;

/**
 * Returns the memory of a process, in bytes; shared memory counts proportionally (PSS). Undefined when not available.
 */
export function proportionalBytes(pid: number): number | undefined {
  const kilobytes = /^Pss:\s+(\d+) kB$/m.exec(readProc(pid, 'smaps_rollup') ?? '')?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

/** Returns the children of a process, including those that have ended and were not waited for. */
export function listChildren(pid: number): ProcessEntry[] {
  const children = readProc(pid, `task/${pid}/children`);
  // A kernel may be built without that file (CONFIG_PROC_CHILDREN).
  if (children === undefined) return listProcesses().filter((entry) => entry.parent === pid);
  return children.split(' ').flatMap((child) => (child === '' ? [] : (readProcess(Number(child)) ?? [])));
}

/** Returns the pids of the children of all threads of a process: a program in Go starts others from any of them. */
export function childPidsOf(pid: number): readonly number[] {
  const lists = threadsOf(pid).map((thread) => readProc(pid, `task/${thread}/children`) ?? '');
  return lists.flatMap((list) => (list === '' ? [] : list.trim().split(' ').map(Number)));
}

const threadsOf = (pid: number): readonly string[] => namesIn(`/proc/${pid}/task`);

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    // The process has ended.
    return [];
  }
}

/** Returns the tag in the initial environment of a process; undefined for a foreign process. */
export function readTag(pid: number): string | undefined {
  const environment = readProc(pid, 'environ');
  if (!environment) return undefined;
  const start = environment.startsWith(`${TAG_VARIABLE}=`) ? 0 : environment.indexOf(`\0${TAG_VARIABLE}=`) + 1;
  if (start === 0 && !environment.startsWith(`${TAG_VARIABLE}=`)) return undefined;
  const end = environment.indexOf('\0', start);
  return environment.slice(start + TAG_VARIABLE.length + 1, end === -1 ? undefined : end);
}

/** Returns the arguments of a process, starting with its name; empty when not available. */
export function argumentsOf(pid: number): readonly string[] {
  const args = readProc(pid, 'cmdline')?.replace(/\0$/, '') ?? '';
  return args === '' ? [] : Buffer.from(args, 'latin1').toString().split('\0');
}

/** Returns the command line of a process for display. */
export function commandLine(entry: Pick<ProcessEntry, 'pid' | 'name'>): string {
  const args = readProc(entry.pid, 'cmdline')?.replace(/\0+$/, '').replaceAll(/\0+/g, ' ');
  return shownCommandLine(Buffer.from(args ? args : `[${entry.name}]`, 'latin1').toString());
}

/** Describes the activity of a process for a message: its state, and the kernel function in which it waits. */
export function whereabouts(pid: number): { readonly state: string; readonly waitsIn: string } {
  return { state: readProcess(pid)?.state ?? 'gone', waitsIn: readProc(pid, 'wchan') ?? 'unknown' };
}

/** Returns the pid of a process in its sandbox, or its own pid without one: proc(5), NSpid. */
export function innermostPid(pid: number): number {
  const numbers = /^NSpid:\s*(.*)$/m.exec(readProc(pid, 'status') ?? '')?.[1]?.split(/\s+/) ?? [];
  // The first one belongs to the daemon's own namespace; the first of the inner ones is the sandbox's.
  return Number(numbers[1] ?? pid);
}

const NS_PER_SECOND = 1e9;

/** Bit of SIGKILL in the masks of /proc/PID/status. */
const SIGKILL_BIT = 0x100n;

/** Whether a process has ended, or is just ending: its command line is gone, or a SIGKILL is pending. */
export function isEnding({ pid }: { readonly pid: number }): boolean {
  if (!readProc(pid, 'cmdline')) return true;
  const masks = readProc(pid, 'status')?.matchAll(/^(?:SigPnd|ShdPnd):\s*([0-9a-f]+)$/gm) ?? [];
  return [...masks].some(([, mask = '0']) => (BigInt(`0x${mask}`) & SIGKILL_BIT) !== 0n);
}

/** Whether a process catches, ignores or blocks a signal, so that the signal does not kill it. */
export function handlesSignal(pid: number, signal: number): boolean {
  const masks = readProc(pid, 'status')?.matchAll(/^(?:SigIgn|SigCgt|SigBlk):\s*([0-9a-f]+)$/gm) ?? [];
  const bit = 1n << BigInt(signal - 1);
  return [...masks].some(([, mask = '0']) => (BigInt(`0x${mask}`) & bit) !== 0n);
}

/** Returns the signals that a process catches, as a hexadecimal mask. */
function caughtSignals(pid: number): string | undefined {
  return /^SigCgt:\s*([0-9a-f]+)$/m.exec(readProc(pid, 'status') ?? '')?.[1];
}

/** Longest time from fork(2) to exec(2), on a loaded machine too, in clock ticks. */
const EXEC_TICKS = 0.3 * TICKS_PER_SECOND;

/**
 * Returns the current time on the clock of `startTicks`. Some containers report their own uptime, which is less
 * (lxcfs); the monotonic clock is behind after a suspension of the machine.
 */
export const ticksNow = (): number =>
  Math.max(uptime(), Number(process.hrtime.bigint()) / NS_PER_SECOND) * TICKS_PER_SECOND;

/** Whether a process was started a moment ago: it may still exec another program, or be about to start one and end. */
export const isYoung = ({ startTicks }: ProcessEntry): boolean => ticksNow() - startTicks < EXEC_TICKS;

/** CPU time, in clock ticks, from which a process is at work, and not only about to exec. */
const WORKING_TICKS = 2;

/** Whether a process was started a moment ago and has had next to no CPU time, though it could run. */
export const isWaitingForCpu = (entry: ProcessEntry): boolean =>
  isYoung(entry) && entry.state === 'R' && entry.cpuTicks < WORKING_TICKS;

/**
 * Whether a process still has the command line of the shell that has forked it because it waits for a CPU, or was stopped
 * meanwhile. Just before it execs, it has handlers of its own, so that `isBeforeExec` does not tell it from a subshell.
 */
export const isWaitingCopy = (child: ProcessEntry, shellPid: number): boolean =>
  (isWaitingForCpu(child) || isStoppedEarly(child)) && isCopy(child, shellPid);

/** Whether a process has the command line of the shell that has forked it: it has not exec'ed. */
const isCopy = (child: ProcessEntry, shellPid: number): boolean =>
  commandLine(child) === commandLine({ pid: shellPid, name: '' });

const hasHandlersOf = (child: ProcessEntry, shellPid: number): boolean =>
  caughtSignals(child.pid) === caughtSignals(shellPid);

const isStoppedEarly = (entry: ProcessEntry): boolean =>
  isYoung(entry) && entry.state === 'T' && entry.cpuTicks < WORKING_TICKS;

/**
 * Whether a shell has just forked this process, which is about to exec a program: it still has the shell's command
 * line, and the shell's signal handlers, in which signals are lost. (A subshell has its own handlers.)
 */
export const isBeforeExec = (child: ProcessEntry, shellPid: number): boolean =>
  isYoung(child) && isCopy(child, shellPid) && isAlive(child) && hasHandlersOf(child, shellPid);

/**
 * Whether a process may be about to exec a program, however long ago it was started: a loaded machine may have it wait. So may a
 * fork of a shell with its handlers, and what has done nothing yet. A subshell sleeps or works.
 */
export function mayExec(child: ProcessEntry, shellPid: number): boolean {
  const hasDoneNothing = child.state !== 'S' && child.cpuTicks < WORKING_TICKS;
  return isAlive(child) && (hasDoneNothing || (isCopy(child, shellPid) && hasHandlersOf(child, shellPid)));
}

/** Index of the exit code among the fields after the name in /proc/PID/stat. */
const EXIT_CODE_FIELD = 49;

/** Returns the number of the signal that killed a zombie; 0 for none. */
export function exitSignal(pid: number): number {
  const stat = readProc(pid, 'stat') ?? '';
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[EXIT_CODE_FIELD] ?? 0) & 0x7f;
}

/** Whether a number belongs to a thread other than the first of its process: /proc/NUMBER exists for it too. */
export function isThread(number: number): boolean {
  const process = /^Tgid:\s*(\d+)$/m.exec(readProc(number, 'status') ?? '')?.[1];
  return process !== undefined && process !== String(number);
}

/** Whether exactly this process still runs: not another one with the same pid, not a zombie. */
export function isAlive(process: ProcessId): boolean {
  const now = readProcess(process.pid);
  return now !== undefined && now.startTicks === process.startTicks && now.state !== 'Z' && now.state !== 'X';
}

/** Returns the target of a file descriptor; undefined when the process has no such descriptor. */
export const descriptorTarget = (pid: number, fd: number): string | undefined => readLink(`/proc/${pid}/fd/${fd}`);

/** Returns the open descriptors of a process; none when it has ended, or belongs to another user. */
export const descriptorsOf = (pid: number): readonly number[] => namesIn(`/proc/${pid}/fd`).map(Number);

/** Returns the pipes of a process; none when it has ended. */
export function pipesOf(pid: number): OpenPipes {
  const written: string[] = [];
  let input: string | undefined;
  for (const fd of descriptorsOf(pid)) {
    const target = descriptorTarget(pid, fd);
    if (target?.startsWith('pipe:') !== true) continue;
    if (accessOf(readProc(pid, `fdinfo/${fd}`) ?? '') !== 'read') written.push(target);
    else if (fd === 0) input = target;
  }
  return { input, written };
}

/**
 * Names a namespace of a process, such as `net:[4026531840]`: namespaces(7).
 * @returns undefined when it has ended, or has rights that the daemon has not
 */
export const namespaceOf = (
  pid: number | 'self',
  kind: 'mnt' | 'net' | 'pid' | 'user' | 'ipc' | 'uts',
): string | undefined => readLink(`/proc/${pid}/ns/${kind}`);

/**
 * Returns the file from which a process is blocked in read(2); undefined when it is not, or the kernel does not report
 * it.
 */
export function fileBeingRead(pid: number): string | undefined {
  const [number, descriptor] = readProc(pid, 'syscall')?.split(' ') ?? [];
  if (number !== READ_SYSCALL[process.arch] || descriptor === undefined) return undefined;
  return descriptorTarget(pid, Number(descriptor))?.replace(/ \(deleted\)$/, '');
}

/**
 * Maps a path as a process sees it to a path that the daemon can open: proc(5), root. Absolute links are followed in the
 * root directory of the process: the kernel would follow them in that of the daemon.
 * @returns empty if the path leads through too many links
 */
export function pathInside(pid: number, path: string): string {
  const root = `/proc/${pid}/root`;
  const real = followLinks(path, [], root);
  return real === undefined ? '' : `${root}${real}`;
}

/** Whether any descriptor of a process refers to this path. */
export const holdsDescriptorOf = (pid: number, path: string): boolean =>
  descriptorsOf(pid).some((fd) => descriptorTarget(pid, fd) === path);

/**
 * Kernel functions in which a thread sleeps that uses a pipe or waits for a child. Source: wchan of proc(5), which is 0 for one that
 * runs.
 */
const AT_WORK = /^(?:0$|anon_pipe_|pipe_|do_wait)/;

/** Whether a thread of a process runs, uses a pipe, or waits for a child. */
export function isAtWork(pid: number): boolean {
  return threadsOf(pid).some((thread) => {
    const stat = readProc(pid, `task/${thread}/stat`) ?? '';
    const state = stat[stat.lastIndexOf(')') + 2] ?? '';
    return state === 'S' ? AT_WORK.test(readProc(pid, `task/${thread}/wchan`) ?? '') : 'RD'.includes(state);
  });
}

/** Numbers of wait4(2), waitid(2) and rt_sigsuspend(2), by architecture. */
const WAIT_SYSCALLS: Partial<Record<NodeJS.Architecture, readonly string[]>> = {
  x64: ['61', '247', '130'],
  arm64: ['260', '95', '133'],
};

/**
 * Whether a process waits for a child or a signal, or was stopped while it did; true where the kernel does not tell.
 */
export function isWaiting(pid: number): boolean {
  const [number] = readProc(pid, 'syscall')?.split(' ') ?? [];
  return number === undefined || WAIT_SYSCALLS[process.arch]?.includes(number) !== false;
}

/** Numbers of read(2), by architecture. */
const READ_SYSCALL: Partial<Record<NodeJS.Architecture, string>> = { x64: '0', arm64: '63' };

/** Major number of memory devices such as /dev/null (linux/major.h). */
const MEMORY_DEVICES = 1;

/** Whether standard input of a process is a terminal; true where that cannot be determined. */
export function hasTerminalInput(pid: number): boolean {
  try {
    const input = statSync(`/proc/${pid}/fd/0`);
    return input.isCharacterDevice() && ((input.rdev >> 8) & 0xfff) !== MEMORY_DEVICES;
  } catch (error) {
    // ENOENT: standard input is closed, or the process has ended. EACCES: it belongs to another user.
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

/** Fields of the line `cpu` whose time is idle: `idle` and `iowait`. Source: proc_stat(5). */
const IDLE_FIELDS: ReadonlySet<number> = new Set([3, 4]);
/** Fields that count; `guest` and `guest_nice` after them are contained in `user` and `nice`. */
const CPU_FIELDS = 8;

/** Reads the first line of /proc/stat: in clock ticks since the machine started. */
export function parseCpuTicks(text: string): CpuTime | undefined {
  const fields = /^cpu +([\d ]+)/.exec(text)?.[1]?.split(' ').map(Number).slice(0, CPU_FIELDS);
  if (!fields) return undefined;
  const total = fields.reduce((sum, ticks) => sum + ticks, 0);
  const idle = fields.reduce((sum, ticks, index) => sum + (IDLE_FIELDS.has(index) ? ticks : 0), 0);
  return { busy: total - idle, total };
}

/** Columns of /proc/net/dev after the name of an interface. */
const RECEIVED_COLUMN = 0;
const SENT_COLUMN = 8;

/** Reads /proc/net/dev. */
export function parseNetBytes(text: string): NetBytes {
  let received = 0;
  let sent = 0;
  for (const [, name = '', rest = ''] of text.matchAll(/^ *([^\s:|]+): *(\d.*)$/gm)) {
    if (name === 'lo') continue;
    const columns = rest.split(/ +/).map(Number);
    received += columns[RECEIVED_COLUMN] ?? 0;
    sent += columns[SENT_COLUMN] ?? 0;
  }
  return { received, sent };
}

const KIB = 1024;

/** Reads /proc/meminfo. */
export function parseMemory(text: string): MemoryBytes | undefined {
  const [total, available] = ['MemTotal', 'MemAvailable'].map((name) => {
    return Number(new RegExp(`^${name}: *(\\d+) kB$`, 'm').exec(text)?.[1] ?? NaN) * KIB;
  });
  if (total === undefined || available === undefined || Number.isNaN(total + available)) return undefined;
  return { total, used: total - available };
}

/** Reads the load average of the last minute from /proc/loadavg. */
export const parseLoad = (text: string): number => Number(/^[\d.]+/.exec(text)?.[0] ?? 0);

/** Reads a number from a file with lines such as `inactive_file 4096`; 0 when it has none. */
export const parseField = (text: string, name: string): number =>
  Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);

/** How a process was started. */
export interface ProcessLaunch {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Reads how a process was started, as far as it has not changed that itself. Source: proc(5).
 * @throws the system's error when it belongs to another user, has ended, or there is no /proc
 */
export function readLaunch(pid: number): ProcessLaunch {
  const [file = '', ...args] = stringsIn(`/proc/${pid}/cmdline`);
  const variables = stringsIn(`/proc/${pid}/environ`).map((entry) => {
    const at = entry.indexOf('=');
    return [entry.slice(0, at), entry.slice(at + 1)] as const;
  });
  return { file, args, cwd: readlinkSync(`/proc/${pid}/cwd`), env: Object.fromEntries(variables) };
}

/** Each entry ends with a NUL. */
const stringsIn = (path: string): readonly string[] => readFileSync(path, 'utf8').split('\0').slice(0, -1);
