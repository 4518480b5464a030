import { TICKS_PER_SECOND } from '../contract/process-entry.js';

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
  /** Arguments, separated by blanks. */
  readonly line: string;
}

/**
 * The columns of `parseProcessList`, each with an empty heading: those of POSIX, and `stat`, `tpgid`, `lstart` and `rss`
 * as Linux, macOS and the BSDs have them.
 */
export const LIST_ARGUMENTS = [
  ...['-A', '-ww'],
  ...['pid', 'ppid', 'pgid', 'tpgid', 'stat', 'tty', 'lstart', 'time', 'rss', 'args'].flatMap((name) => [
    '-o',
    `${name}=`,
  ]),
];

const LINE =
  /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(-?\d+)\s+(\S+)\s+(\S+)\s+(\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+)\s+([\d:.-]+)\s+(\d+) ?(.*)$/;

/** Parses the output of ps(1) with `LIST_ARGUMENTS` in the time zone UTC and the locale C; other lines are ignored. */
export function parseProcessList(text: string): ListedProcess[] {
  return text.split('\n').flatMap((text) => {
    const [, pid, parent, group, foreground, stat = '', tty = '', start = '', time = '', kib, line = ''] =
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
        line,
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

/** Parses lines of a pid and a command line that is followed by the environment: the value of `variable`, by pid. */
export function parseVariable(text: string, variable: string): ReadonlyMap<number, string> {
  const values = new Map<number, string>();
  for (const line of text.split('\n')) {
    const [, pid] = /^\s*(\d+) /.exec(line) ?? [];
    const at = line.lastIndexOf(` ${variable}=`);
    const value = /^\S*/.exec(line.slice(at + variable.length + 2))?.[0];
    if (pid !== undefined && at !== -1 && value !== undefined) values.set(Number(pid), value);
  }
  return values;
}
