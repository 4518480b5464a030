import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { PROCESS_HANG_MS } from '../../support/hang.js';

const POLL_MS = 20;

function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    // It has gone, or is not ours.
    return '';
  }
}

function isZombie(pid: string): boolean {
  const stat = read(pid, 'stat');
  return stat === '' || stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}

/** Processes of this machine that carry a mark in their environment or command line. */
export function processesWith(mark: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => read(pid, 'environ').includes(mark) || read(pid, 'cmdline').includes(mark))
    .filter((pid) => !isZombie(pid))
    .map((pid) => `${pid} ${read(pid, 'cmdline').replaceAll('\0', ' ').slice(0, 120)}`);
}

/** Ends the processes that carry a mark. */
export function killWith(mark: string): void {
  for (const line of processesWith(mark))
    try {
      process.kill(Number.parseInt(line), 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
}

/** Waits until nothing carries the mark; gives what still does when that takes too long. */
export async function remainingWith(mark: string, timeoutMs = PROCESS_HANG_MS): Promise<string[]> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = processesWith(mark);
    if (found.length === 0 || performance.now() > deadline) return found;
    await sleep(POLL_MS);
  }
}

/** Zombie children of a process. */
export function zombiesOf(parent: number): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    const stat = read(pid, 'stat');
    const [state, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' && Number(ppid) === parent;
  });
}
