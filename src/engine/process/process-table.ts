import { readdirSync, readlinkSync } from 'node:fs';
import { uptime } from 'node:os';

import { readBytes, readSmallFile } from '../system/small-file.js';

/** Name of the environment variable that identifies processes of the adapter: `instance.session.command`. */
export const TAG_VARIABLE = 'SHELL_ADAPTER_TAG';

/** Clock ticks per second in /proc (USER_HZ): 100 on every Linux in use. */
export const TICKS_PER_SECOND = 100;
const NS_PER_SECOND = 1e9;

/** Longest command line that is reported, in characters. */
const MAX_COMMAND_LINE = 200;

/**
 * A process at one moment, from /proc/PID/stat (proc(5)). `startTicks` distinguishes it from a later one with the same
 * pid.
 */
export interface ProcessEntry {
  readonly pid: number;
  readonly name: string;
  /** R, S, D, Z (zombie), T (stopped), … */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Foreground process group of its terminal, -1 without one. */
  readonly foregroundGroup: number;
  /** Start time, in clock ticks since boot. */
  readonly startTicks: number;
  /** CPU time in clock ticks: its own, and that of children it has waited for. */
  readonly cpuTicks: number;
  readonly threads: number;
  /** Resident memory, in pages, including shared pages. */
  readonly residentPages: number;
}

const readProc = (pid: number, file: string): string | undefined => readSmallFile(`/proc/${pid}/${file}`);

/** Characters of /proc/PID/stat. */
const OPENING = 0x28;
const CLOSING = 0x29;
const BLANK = 0x20;
const MINUS = 0x2d;
const ZERO = 0x30;
/** Numeric fields after the name, as far as they are used; shared buffer for one process at a time. */
const numbers = new Float64Array(22);

/** Reads one process; undefined when it does not exist. */
export const readProcess = (pid: number): ProcessEntry | undefined =>
  readBytes(`/proc/${pid}/stat`, (bytes, length) => parseStat(pid, bytes, length));

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

/**
 * Returns the bytes that a process, and the children it has waited for, have caused to be written to disks; 0 when not
 * available.
 */
export const bytesWrittenBy = (pid: number): number =>
  Number(/^write_bytes: (\d+)$/m.exec(readProc(pid, 'io') ?? '')?.[1] ?? 0);

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
  const args = readProc(entry.pid, 'cmdline')?.replace(/\0+$/, '').replaceAll('\0', ' ');
  return shownCommandLine(Buffer.from(args ? args : `[${entry.name}]`, 'latin1').toString());
}

/** Truncates a command line to the displayed length. */
export const shownCommandLine = (line: string): string => line.slice(0, MAX_COMMAND_LINE);

/** Bit of SIGKILL in the masks of /proc/PID/status. */
const SIGKILL_BIT = 0x100n;

/** Whether a process has ended, or is just ending: its command line is gone, or a SIGKILL is pending. */
export function isEnding({ pid }: Pick<ProcessEntry, 'pid'>): boolean {
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
 * Whether a process still has the command line of the shell that has forked it because it waits for a CPU. A background
 * job has handlers of its own before it execs, so that `isBeforeExec` does not tell it from a subshell.
 */
export const isWaitingCopy = (child: ProcessEntry, shellPid: number): boolean =>
  isWaitingForCpu(child) && commandLine(child) === commandLine({ pid: shellPid, name: '' });

/**
 * Whether a shell has just forked this process, which is about to exec a program: it still has the shell's command
 * line, and the shell's signal handlers, in which signals are lost. (A subshell has its own handlers.)
 */
export function isBeforeExec(child: ProcessEntry, shellPid: number): boolean {
  const isCopy = commandLine(child) === commandLine({ pid: shellPid, name: '' });
  return isYoung(child) && isCopy && isAlive(child) && caughtSignals(child.pid) === caughtSignals(shellPid);
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
export function isAlive(process: Pick<ProcessEntry, 'pid' | 'startTicks'>): boolean {
  const now = readProcess(process.pid);
  return now !== undefined && now.startTicks === process.startTicks && now.state !== 'Z' && now.state !== 'X';
}

/** Returns the target of a file descriptor; undefined when the process has no such descriptor. */
export function descriptorTarget(pid: number, fd: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    // ENOENT: closed, or the process has ended.
    return undefined;
  }
}

/**
 * Returns the file from which a process is blocked in read(2); undefined when it is not, or the kernel does not report
 * it.
 */
export function fileBeingRead(pid: number): string | undefined {
  const [number, descriptor] = readProc(pid, 'syscall')?.split(' ') ?? [];
  if (number !== READ_SYSCALL[process.arch] || descriptor === undefined) return undefined;
  return descriptorTarget(pid, Number(descriptor))?.replace(/ \(deleted\)$/, '');
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

/** Maps a path as a process sees it to a path that the daemon can open: proc(5), root. */
export const pathInside = (pid: number, path: string): string => `/proc/${pid}/root${path}`;

/** Whether any descriptor of a process refers to this path. */
export function holdsDescriptorOf(pid: number, path: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => descriptorTarget(pid, Number(fd)) === path);
  } catch {
    // The process has ended.
    return false;
  }
}

/**
 * Whether a process is blocked in a read from a terminal, by the kernel function in which it waits (wchan), or where
 * that is hidden, by a read(2) from a descriptor of a terminal.
 */
export function isReadingTerminal(pid: number): boolean {
  const [number, descriptor] = readProc(pid, 'syscall')?.split(' ') ?? [];
  if (number !== undefined && descriptor !== undefined) {
    if (number !== READ_SYSCALL[process.arch]) return isPollingTerminal(pid, number);
    return isTerminal(descriptorTarget(pid, Number(descriptor)));
  }
  return readProc(pid, 'wchan') === 'n_tty_read';
}

/** A sandbox shows its terminal as /dev/console. */
const isTerminal = (path: string | undefined): boolean =>
  path === '/dev/tty' || path === '/dev/console' || path?.startsWith('/dev/pts/') === true;

/** Numbers of read(2) and of the calls that wait for several descriptors, by architecture. */
const READ_SYSCALL: Partial<Record<NodeJS.Architecture, string>> = { x64: '0', arm64: '63' };
const SELECT_SYSCALLS: Partial<Record<NodeJS.Architecture, readonly string[]>> = {
  x64: ['7', '23', '270', '271'],
  arm64: ['72', '73'],
};

/** Programs with line editing wait in select(2) or poll(2): then the terminal on their stdin decides. */
function isPollingTerminal(pid: number, syscall: string): boolean {
  if (SELECT_SYSCALLS[process.arch]?.includes(syscall) !== true) return false;
  return isTerminal(descriptorTarget(pid, 0)) && readProc(pid, 'wchan') !== 'hrtimer_nanosleep';
}
