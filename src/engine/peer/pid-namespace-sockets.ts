import { readdirSync, readlinkSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { BatchedLook } from './batched-look.js';

/** Processes that are examined in one turn of the event loop: about 2 ms. */
const PROCESSES_PER_TURN = 50;

/** Tells which sockets are held by processes of the daemon's own PID namespace, and thus of no sandbox. */
export class PidNamespaceSockets {
  /** A look examines the descriptors of all processes, so one serves all sockets that wait. */
  readonly #looks = new BatchedLook(areInOwnPidNamespace);

  /**
   * Whether a process that holds a socket is in the daemon's own PID namespace. False when no process is found: a socket
   * that is being passed from one process to another has no holder.
   */
  holds(inode: number): Promise<boolean> {
    return this.#looks.ask(inode);
  }
}

async function areInOwnPidNamespace(inodes: readonly number[]): Promise<readonly boolean[]> {
  const home = linkOf('/proc/self/ns/pid');
  const undecided = new Set(inodes.map(linkOfSocket));
  const inside = new Set<string>();
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  for (const [index, pid] of pids.entries()) {
    if (undecided.size === 0) break;
    if (index % PROCESSES_PER_TURN === PROCESSES_PER_TURN - 1) await nextTurn();
    const held = descriptorsOf(pid).filter((link) => undecided.has(link));
    const isInside = held.length > 0 && home !== undefined && linkOf(`/proc/${pid}/ns/pid`) === home;
    for (const link of held) {
      undecided.delete(link);
      if (isInside) inside.add(link);
    }
  }
  return inodes.map((inode) => inside.has(linkOfSocket(inode)));
}

const linkOfSocket = (inode: number): string => `socket:[${inode}]`;

function descriptorsOf(pid: string): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`) ?? '');
  } catch {
    // EACCES: the process belongs to another user. ENOENT: it has ended.
    return [];
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
