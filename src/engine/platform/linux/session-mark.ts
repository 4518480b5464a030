import { readSmallFile } from '../../system/small-file.js';
import { readTag } from './process-table.js';

/** The line in /proc/PID/limits: its name, blanks, the soft limit, blanks, and more. */
const LINE = 'Max file locks';
const LINE_LENGTH = 60;

/** Reads the mark of a process; undefined when it has none. About 6 µs. */
export function readMark(pid: number): string | undefined {
  const limits = readSmallFile(`/proc/${pid}/limits`);
  const start = limits?.indexOf(LINE) ?? -1;
  if (limits === undefined || start === -1) return undefined;
  return /^ *(\d+) /.exec(limits.slice(start + LINE.length, start + LINE_LENGTH))?.[1];
}

/** Returns the origin of a process: its tag, or without one its mark. Undefined for a foreign process. */
export const readOrigin = (pid: number): string | undefined => readTag(pid) ?? readMark(pid);
