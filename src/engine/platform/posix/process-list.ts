import { execFile, spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

import { MS_PER_TICK } from '../platform.js';

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
 * The columns of `parseProcessList`: those of POSIX, and `stat`, `tpgid` and `lstart` as Linux, macOS and the BSDs have them.
 */
export const LIST_ARGUMENTS = [
  WITH_ENVIRONMENT,
  ...listOf('pid', 'ppid', 'pgid', 'tpgid', 'stat', 'tty', 'lstart', 'args'),
];

/** The columns of `parseLines`. */
export const LINE_ARGUMENTS = listOf('pid', 'args');

const LINE = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(-?\d+)\s+(\S+)\s+(\S+)\s+(\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+) ?(.*)$/;

/** Parses the output of ps(1) with `LIST_ARGUMENTS` in the time zone UTC and the locale C; other lines are ignored. */
export function parseProcessList(text: string): ListedProcess[] {
  return text.split('\n').flatMap((text) => {
    const [, pid, parent, group, foreground, stat = '', tty = '', start = '', shown = ''] = LINE.exec(text) ?? [];
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
        text: shown,
      },
    ];
  });
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

/** Descriptors of one run of a program: those of its pipes, and of the event loop of one that blocks. */
const COUNT_EACH = 8;
/** Enough for a list and a measurement, and for two lists, at a time. */
const COUNT = 3 * COUNT_EACH;

/** Descriptors that are held for programs without which nothing goes on when all others are in use. */
export class DescriptorReserve {
  readonly #held: number[] = [];

  /** Whether a program can be started, even if all other descriptors are in use. */
  get isEnough(): boolean {
    this.fill();
    return this.#held.length >= COUNT_EACH;
  }

  /** Starts a program, for which the descriptors are free meanwhile. */
  use<T>(start: () => T): T {
    for (const fd of this.#held.splice(0)) closeSync(fd);
    try {
      return start();
    } finally {
      this.fill();
    }
  }

  /** Takes as many descriptors as there are, up to the number that is held. */
  fill(): void {
    try {
      while (this.#held.length < COUNT) this.#held.push(openSync('/dev/null', 'r'));
    } catch {
      // EMFILE, ENFILE: the rest is taken after the next run.
    }
  }
}

/** Path of ps(1) on Linux, macOS and the BSDs. */
const PS = '/bin/ps';
const MAX_LIST_BYTES = 64 * 1024 * 1024;
/** Dates in the locale C and in UTC; other text as it is. */
const ENVIRONMENT = { TZ: 'UTC0', LC_TIME: 'C', LC_CTYPE: 'C.UTF-8' };
const OPTIONS = { env: ENVIRONMENT, encoding: 'utf8', maxBuffer: MAX_LIST_BYTES } as const;

/** What ps(1) has printed, and its own pid. */
export interface Listing {
  readonly text: string;
  readonly pid: number | undefined;
}

/** Error of a failed run of ps(1), with the errno: exhaustion has its own error code. */
const notListed = (cause: Error): Error =>
  Object.assign(new Error(`processes cannot be listed: ${cause.message}`, { cause }), {
    code: (cause as NodeJS.ErrnoException).code,
  });

/**
 * Runs ps(1), which blocks.
 * @throws Error when it cannot be run
 */
export function runPs(args: readonly string[]): Listing {
  const { error, stdout, stderr, status, pid } = spawnSync(PS, args, { ...OPTIONS, stdio: ['ignore', 'pipe', 'pipe'] });
  if (error) throw notListed(error);
  if (status !== 0 && stdout === '' && stderr !== '') throw new Error(`processes cannot be listed: ${stderr.trim()}`);
  return { text: stdout, pid };
}

/** Runs ps(1) without blocking; rejects when it cannot be run. */
export function runPsAside(args: readonly string[]): Promise<Listing> {
  return new Promise((resolve, reject) => {
    const child = execFile(PS, args, OPTIONS, (error, text) => {
      // It ends with 1 where none of the processes is left.
      if (error && error.code !== 1) reject(notListed(error));
      else resolve({ text, pid: child.pid });
    });
  });
}
