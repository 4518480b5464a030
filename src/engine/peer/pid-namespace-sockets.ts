import { readdirSync, readlinkSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Processes that are examined in one turn of the event loop: about 2 ms. */
const PROCESSES_PER_TURN = 50;

/**
 * Whether a process that holds a socket is in the daemon's own PID namespace, and thus in no sandbox. False when no
 * process is found: a socket that is being passed from one process to another has no holder.
 */
export async function isSocketInOwnPidNamespace(inode: number): Promise<boolean> {
  const target = `socket:[${inode}]`;
  const home = linkOf('/proc/self/ns/pid');
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  for (const [index, pid] of pids.entries()) {
    if (index % PROCESSES_PER_TURN === PROCESSES_PER_TURN - 1) await nextTurn();
    if (holds(pid, target)) return home !== undefined && linkOf(`/proc/${pid}/ns/pid`) === home;
  }
  return false;
}

function holds(pid: string, target: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === target);
  } catch {
    // EACCES: the process belongs to another user. ENOENT: it has ended.
    return false;
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // ENOENT: it was closed meanwhile.
    return undefined;
  }
}
