import { existsSync, readdirSync } from 'node:fs';

import { type ProcessEntry, shownCommandLine, TAG_VARIABLE, type Writes } from '../contract/process-entry.js';
import { readBytes, readSmallFile } from '../../system/small-file.js';

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
  try {
    const lists = readdirSync(`/proc/${pid}/task`).map((thread) => readProc(pid, `task/${thread}/children`) ?? '');
    return lists.flatMap((list) => (list === '' ? [] : list.trim().split(' ').map(Number)));
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
