import { closeSync, openSync, writeSync } from 'node:fs';

import { tryWrite } from '../../system/small-file.js';
import { readProc } from './process-table.js';

/**
 * Added to the kernel's badness score of a process, out of 1000, when it selects one to kill
 * (proc_pid_oom_score_adj(5)).
 */
const VICTIM_SCORE = 500;

/** Makes the OOM killer prefer this process and its descendants to the daemon. */
export function makeFirstVictim(pid: number): void {
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
export function replaceArgument(pid: number, args: readonly string[], index: number, text: string): boolean {
  const sizes = args.map((arg) => Buffer.byteLength(arg) + 1);
  const offset = sum(sizes.slice(0, index));
  const room = Buffer.alloc(sizes[index] ?? 0);
  if (Buffer.byteLength(text) >= room.length) return false;
  room.write(text);
  try {
    const memory = openSync(`/proc/${pid}/mem`, 'r+');
    try {
      const stat = readProc(pid, 'stat') ?? '';
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
