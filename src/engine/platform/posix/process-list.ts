import { execFile, type ExecFileException } from 'node:child_process';
import { promisify } from 'node:util';

import { TICKS_PER_SECOND } from '../platform.js';

/** Kibibytes in a page of `ProcessEntry.residentPages`. */
const KIB_PER_PAGE = 4;
const MS_PER_TICK = 1000 / TICKS_PER_SECOND;

/** A process as ps(1) lists it. */
export interface ListedProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Zero or less without a terminal. */
  readonly foregroundGroup: number;
  readonly state: string;
  readonly isSessionLeader: boolean;
  /** Name of its terminal; undefined without one. */
  readonly terminal: string | undefined;
  /** In clock ticks since 1970, with a resolution of one second. */
  readonly startTicks: number;
  readonly cpuTicks: number;
  readonly residentPages: number;
  /** Arguments, followed by the environment as far as it may be read: both separated by blanks. */
  readonly text: string;
}

/** Shows the environment behind the arguments: an option of macOS, and of BSD's syntax elsewhere. */
const WITH_ENVIRONMENT = process.platform === 'darwin' ? '-E' : 'e';

/** All processes, with these columns and no headings. */
const listOf = (...columns: readonly string[]): readonly string[] => [
  ...['-A', '-ww'],
  ...columns.flatMap((name) => ['-o', `${name}=`]),
];

/**
 * The columns of `parseProcessList`: those of POSIX, and `stat`, `tpgid`, `lstart` and `rss` as Linux, macOS and the BSDs
 * have them.
 */
export const LIST_ARGUMENTS = [
  WITH_ENVIRONMENT,
  ...listOf('pid', 'ppid', 'pgid', 'tpgid', 'stat', 'tty', 'lstart', 'time', 'rss', 'args'),
];

/** The columns of `parseLines`. */
export const LINE_ARGUMENTS = listOf('pid', 'args');

const LINE =
  /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(-?\d+)\s+(\S+)\s+(\S+)\s+(\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+)\s+([\d:.-]+)\s+(\d+) ?(.*)$/;

/** Parses the output of ps(1) with `LIST_ARGUMENTS` in the time zone UTC and the locale C; other lines are ignored. */
export function parseProcessList(text: string): ListedProcess[] {
  return text.split('\n').flatMap((text) => {
    const [, pid, parent, group, foreground, stat = '', tty = '', start = '', time = '', kib, shown = ''] =
      LINE.exec(text) ?? [];
    if (pid === undefined) return [];
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        foregroundGroup: Number(foreground),
        state: stat.charAt(0),
        isSessionLeader: stat.includes('s'),
        terminal: /^[?-]+$/.test(tty) ? undefined : tty,
        startTicks: Date.parse(`${start} UTC`) / MS_PER_TICK,
        cpuTicks: parseCpuTime(time) * TICKS_PER_SECOND,
        residentPages: Number(kib) / KIB_PER_PAGE,
        text: shown,
      },
    ];
  });
}

/** Parses `[[DD-]HH:]MM:SS`, with fractions of a second on some systems; in seconds. */
function parseCpuTime(text: string): number {
  const [days, rest] = text.includes('-') ? text.split('-') : ['0', text];
  const seconds = (rest ?? '').split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return Number(days) * 86_400 + seconds;
}

/** Parses the output of ps(1) with `LINE_ARGUMENTS`: the arguments, separated by blanks, by pid. */
export function parseLines(text: string): ReadonlyMap<number, string> {
  return new Map(
    text.split('\n').flatMap((line) => {
      const [, pid, shown = ''] = /^\s*(\d+) ?(.*)$/.exec(line) ?? [];
      return pid === undefined ? [] : [[Number(pid), shown] as const];
    }),
  );
}

/** The value of a variable in the environment behind the arguments of a process; undefined without it. */
export function variableIn(text: string, name: string): string | undefined {
  const at = text.lastIndexOf(` ${name}=`);
  return at === -1 ? undefined : /^\S*/.exec(text.slice(at + name.length + 2))?.[0];
}

const run = promisify(execFile);

/** Where programs such as lsof(8) are, on Linux, macOS and the BSDs. */
export const SYSTEM_PATH = '/usr/bin:/bin:/usr/sbin:/sbin';
/** Most time for a program, in milliseconds: lsof(8) may wait for a network file system. */
const TIMEOUT_MS = 10_000;
const MAX_LIST_BYTES = 16 * 1024 * 1024;

/**
 * Runs a program of the system; returns what it has printed, also when it ends with 1: lsof(8) does when a process has
 * ended, or nothing was found.
 * @throws Error with the code ENOENT when it is not installed, and for other failures
 */
export async function runProgram(program: string, args: readonly string[]): Promise<string> {
  const options = { env: { PATH: SYSTEM_PATH, LC_ALL: 'C' }, timeout: TIMEOUT_MS, maxBuffer: MAX_LIST_BYTES };
  try {
    return (await run(program, args, options)).stdout;
  } catch (error) {
    const { code, stdout = '' } = error as ExecFileException;
    if (code === 1) return stdout;
    throw error;
  }
}

/** Whether an error of `runProgram` says that the program is not installed. */
export const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
