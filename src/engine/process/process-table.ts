import { readdirSync, readlinkSync } from 'node:fs';
import { uptime } from 'node:os';

import { readBytes, readSmallFile } from '../system/small-file.js';

/** Name of the variable by which processes of the adapter are recognised: `instance.session.command`. */
export const TAG_VARIABLE = 'SHELL_ADAPTER_TAG';

/** Clock ticks a second in /proc (USER_HZ): 100 on every Linux in use. */
export const TICKS_PER_SECOND = 100;
const NS_PER_SECOND = 1e9;

/** Longest command line that is reported, in characters. */
const MAX_COMMAND_LINE = 200;

/** A process at one moment, from /proc/PID/stat (proc(5)). `startTicks` tells it from a later one of the same pid. */
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
  /** Moment of its start, in clock ticks since boot. */
  readonly startTicks: number;
  /** CPU time in clock ticks: its own, and that of children it has waited for. */
  readonly cpuTicks: number;
  readonly threads: number;
  /** Memory that it holds in RAM, in pages; those that it shares with others included. */
  readonly residentPages: number;
}

const readProc = (pid: number, file: string): string | undefined => readSmallFile(`/proc/${pid}/${file}`);

/** Characters of /proc/PID/stat. */
const OPENING = 0x28;
const CLOSING = 0x29;
const BLANK = 0x20;
const MINUS = 0x2d;
const ZERO = 0x30;
/** Fields after the name that are numbers and of use, one process at a time. */
const numbers = new Float64Array(22);

/** Reads one process; undefined when there is none. */
export const readProcess = (pid: number): ProcessEntry | undefined =>
  readBytes(`/proc/${pid}/stat`, (bytes, length) => parseStat(pid, bytes, length));

/** From the bytes: ten times as quick as by splitting a text, and done for every process of the machine. */
function parseStat(pid: number, bytes: Buffer, length: number): ProcessEntry {
  // The name stands in parentheses and may hold anything, parentheses and blanks included.
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

/** Numbers of all processes of the machine. */
export const listPids = (): number[] =>
  readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    return Number.isInteger(pid) ? [pid] : [];
  });

/** Reads every process of the machine. About 10 µs each. */
export const listProcesses = (): ProcessEntry[] => listPids().flatMap((pid) => readProcess(pid) ?? []);

/** Bytes that a process, and the children it has waited for, have caused to be written to disks; 0 when that is not told. */
export const bytesWrittenBy = (pid: number): number => bytesWrittenSoFar(pid) ?? 0;

/** The same; undefined when that is not told, of a process that has ended for instance. */
export function bytesWrittenSoFar(pid: number): number | undefined {
  const text = readProc(pid, 'io');
  return text === undefined ? undefined : bytesWrittenIn(text);
}

/** The same out of the text of /proc/PID/io. */
export const bytesWrittenIn = (text: string): number => Number(/^write_bytes: (\d+)$/m.exec(text)?.[1] ?? 0);

/** Memory of a process, in bytes: what it shares with others counts in part (PSS). Undefined when it is not told. */
export function proportionalBytes(pid: number): number | undefined {
  const kilobytes = /^Pss:\s+(\d+) kB$/m.exec(readProc(pid, 'smaps_rollup') ?? '')?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

/** The children of a process, those that have ended and were not waited for included. */
export function listChildren(pid: number): ProcessEntry[] {
  const children = readProc(pid, `task/${pid}/children`);
  // A kernel may be built without that file (CONFIG_PROC_CHILDREN).
  if (children === undefined) return listProcesses().filter((entry) => entry.parent === pid);
  return children.split(' ').flatMap((child) => (child === '' ? [] : (readProcess(Number(child)) ?? [])));
}

/** The tag in the environment that a process was started with; undefined for a foreign process. */
export function readTag(pid: number): string | undefined {
  const environment = readProc(pid, 'environ');
  if (!environment) return undefined;
  const start = environment.startsWith(`${TAG_VARIABLE}=`) ? 0 : environment.indexOf(`\0${TAG_VARIABLE}=`) + 1;
  if (start === 0 && !environment.startsWith(`${TAG_VARIABLE}=`)) return undefined;
  const end = environment.indexOf('\0', start);
  return environment.slice(start + TAG_VARIABLE.length + 1, end === -1 ? undefined : end);
}

/** The arguments of a process, its name first; empty when they are not told. */
export function argumentsOf(pid: number): readonly string[] {
  const args = readProc(pid, 'cmdline')?.replace(/\0$/, '') ?? '';
  return args === '' ? [] : Buffer.from(args, 'latin1').toString().split('\0');
}

/** The command line of a process, as people know it. */
export function commandLine(entry: Pick<ProcessEntry, 'pid' | 'name'>): string {
  const args = readProc(entry.pid, 'cmdline')?.replace(/\0+$/, '').replaceAll('\0', ' ');
  return shownCommandLine(Buffer.from(args ? args : `[${entry.name}]`, 'latin1').toString());
}

/** As much of a command line as is shown. */
export const shownCommandLine = (line: string): string => line.slice(0, MAX_COMMAND_LINE);

/** Bit of SIGKILL in the masks of /proc/PID/status. */
const SIGKILL_BIT = 0x100n;

/** Whether a process has ended, or is just ending: its command line is gone already, or it has been sent a SIGKILL. */
export function isEnding({ pid }: Pick<ProcessEntry, 'pid'>): boolean {
  if (!readProc(pid, 'cmdline')) return true;
  const masks = readProc(pid, 'status')?.matchAll(/^(?:SigPnd|ShdPnd):\s*([0-9a-f]+)$/gm) ?? [];
  return [...masks].some(([, mask = '0']) => (BigInt(`0x${mask}`) & SIGKILL_BIT) !== 0n);
}

/** Whether a process catches, ignores or blocks a signal, rather than die of it. */
export function handlesSignal(pid: number, signal: number): boolean {
  const masks = readProc(pid, 'status')?.matchAll(/^(?:SigIgn|SigCgt|SigBlk):\s*([0-9a-f]+)$/gm) ?? [];
  const bit = 1n << BigInt(signal - 1);
  return [...masks].some(([, mask = '0']) => (BigInt(`0x${mask}`) & bit) !== 0n);
}

/** The signals that a process catches, as a mask in hexadecimal. */
function caughtSignals(pid: number): string | undefined {
  return /^SigCgt:\s*([0-9a-f]+)$/m.exec(readProc(pid, 'status') ?? '')?.[1];
}

/** No program takes longer from fork(2) to exec(2), on a busy machine either. */
const EXEC_TICKS = 0.3 * TICKS_PER_SECOND;

/**
 * Now, on the clock by which `startTicks` are told. Some containers are shown an uptime of their own, which is less (lxcfs);
 * the monotonic clock is behind after a suspension of the machine.
 */
export const ticksNow = (): number =>
  Math.max(uptime(), Number(process.hrtime.bigint()) / NS_PER_SECOND) * TICKS_PER_SECOND;

/** Whether a process was started a moment ago: it may still become another program, or be about to start one and end. */
export const isYoung = ({ startTicks }: ProcessEntry): boolean => ticksNow() - startTicks < EXEC_TICKS;

/**
 * Whether a shell has only just forked this process, which is about to become a program: it still has the shell's command
 * line, and the shell's handlers, in which signals are lost. (A subshell has handlers of its own.)
 */
export function isBeforeExec(child: ProcessEntry, shellPid: number): boolean {
  const isCopy = commandLine(child) === commandLine({ pid: shellPid, name: '' });
  return isYoung(child) && isCopy && isAlive(child) && caughtSignals(child.pid) === caughtSignals(shellPid);
}

/** Place of the exit code among the fields after the name in /proc/PID/stat. */
const EXIT_CODE_FIELD = 49;

/** Number of the signal that a process died of, while nobody has waited for it; 0 for none. */
export function exitSignal(pid: number): number {
  const stat = readProc(pid, 'stat') ?? '';
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[EXIT_CODE_FIELD] ?? 0) & 0x7f;
}

/** Whether a number is that of a thread that is not the first of its process: /proc/NUMBER is there for it too. */
export function isThread(number: number): boolean {
  const process = /^Tgid:\s*(\d+)$/m.exec(readProc(number, 'status') ?? '')?.[1];
  return process !== undefined && process !== String(number);
}

/** Whether this very process still runs: not another one under its number, not a zombie. */
export function isAlive(process: Pick<ProcessEntry, 'pid' | 'startTicks'>): boolean {
  const now = readProcess(process.pid);
  return now !== undefined && now.startTicks === process.startTicks && now.state !== 'Z' && now.state !== 'X';
}

/** Where a descriptor of a process leads; undefined when it has no such descriptor. */
export function descriptorTarget(pid: number, fd: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    // ENOENT: closed, or the process has gone.
    return undefined;
  }
}

/** The file that a process is blocked in a read(2) from; undefined when it is not, or the kernel does not tell. */
export function fileBeingRead(pid: number): string | undefined {
  const [number, descriptor] = readProc(pid, 'syscall')?.split(' ') ?? [];
  if (number !== READ_SYSCALL[process.arch] || descriptor === undefined) return undefined;
  return descriptorTarget(pid, Number(descriptor))?.replace(/ \(deleted\)$/, '');
}

/** What a process is doing, for a message: its state, and the function of the kernel that it waits in. */
export function whereabouts(pid: number): { readonly state: string; readonly waitsIn: string } {
  return { state: readProcess(pid)?.state ?? 'gone', waitsIn: readProc(pid, 'wchan') ?? 'unknown' };
}

/** The number that a process has in the sandbox it is in, where it has one: proc(5), NSpid. */
export function innermostPid(pid: number): number {
  const numbers = /^NSpid:\s*(.*)$/m.exec(readProc(pid, 'status') ?? '')?.[1]?.split(/\s+/) ?? [];
  // The first one is that of the daemon's own namespace; of those further in, the sandbox's is the first.
  return Number(numbers[1] ?? pid);
}

/** A path in a process' eyes, as the daemon reaches it: proc(5), root. */
export const pathInside = (pid: number, path: string): string => `/proc/${pid}/root${path}`;

/** Whether any descriptor of a process leads to this path. */
export function holdsDescriptorOf(pid: number, path: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => descriptorTarget(pid, Number(fd)) === path);
  } catch {
    // The process has gone.
    return false;
  }
}

/**
 * Whether a process is blocked in a read from a terminal, as the kernel tells: the function it waits in (wchan), or
 * where that is hidden, a read(2) from a descriptor that leads to a terminal.
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
