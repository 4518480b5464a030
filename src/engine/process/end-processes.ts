import { until } from '../../core/time.js';
import { isSandboxed, namespacePid, type ProcessRoot } from './find-processes.js';
import type { KnownMembers } from './process-snapshot.js';
import { isRunning, type ProcessEntry, type Processes } from '../platform/platform.js';
import { sendSignal } from '../system/signals.js';
import { climb, ENDING_MS, LADDERS } from './ladder.js';

/** Polling interval for the end of signalled processes, in milliseconds. */
const POLL_MS = 10;
/** Number of processes from which on their process groups are killed as a whole: they may multiply. */
const MANY = 50;
const NO_GROUPS: ReadonlySet<number> = new Set();
/** Each round stops at least half of a fork bomb: this is enough for all processes that the machine can hold. */
const MAX_STOP_ROUNDS = 20;

/** Finds the processes of one session, command or daemon; searches again at each call. */
export type ProcessFinder = () => ProcessEntry[];

/** Signals exactly these processes, never another one with a reused pid. Returns those that existed. */
export function signalProcesses(
  entries: readonly ProcessEntry[],
  signal: NodeJS.Signals,
  { isAlive }: Processes,
): ProcessEntry[] {
  return entries.filter((entry) => isAlive(entry) && sendSignal(entry.pid, signal));
}

/** Waits until none of these processes runs; returns false after a timeout. */
export const waitForEnd = (
  entries: readonly ProcessEntry[],
  timeoutMs: number,
  { isAlive }: Processes,
): Promise<boolean> => until(() => !entries.some(isAlive), POLL_MS, timeoutMs);

/** Options for ending processes, besides the grace period. */
export interface EndOptions {
  readonly processes: Processes;
  /** Forks are blocked in this group while its members are killed, if they multiply meanwhile. */
  readonly group?: Pick<KnownMembers, 'holdForks'> | undefined;
  /** Called with the namespace pids of killed processes. */
  readonly onKill?: ((pids: readonly number[]) => void) | undefined;
  /** Determines whether namespace pids differ from the daemon's. */
  readonly root?: ProcessRoot | undefined;
}

/**
 * Ends all processes that `finder` finds: SIGTERM, then SIGKILL after `graceMs`; searches again each time for processes
 * that were started meanwhile.
 * @returns processes that could not be ended: those of another user, or in uninterruptible sleep.
 */
export async function endProcesses(
  finder: ProcessFinder,
  graceMs: number,
  options: EndOptions,
): Promise<ProcessEntry[]> {
  const find = confirmed(finder);
  const { processes } = options;
  const killAt = performance.now() + graceMs;
  let found = find();
  while (found.length > 0 && performance.now() < killAt) {
    const signalled = found;
    await climb(LADDERS.processes, killAt, {
      send: (signal) => signalProcesses(signalled, signal, processes),
      endsWithin: (ms) => waitForEnd(signalled, ms, processes),
    });
    found = find();
  }
  return found.length === 0 ? found : killProcesses(finder, options, found);
}

/**
 * Kills all processes that `finder` finds, until there are no new ones. Returns those that could not be killed.
 * @param first those that it has just found. A search reads about every process of the machine.
 */
export async function killProcesses(
  finder: ProcessFinder,
  { processes, group, onKill, root }: EndOptions,
  first: readonly ProcessEntry[] = confirmed(finder)(),
): Promise<ProcessEntry[]> {
  const find = confirmed(finder);
  const deadline = performance.now() + ENDING_MS.killed + first.length * ENDING_MS.killedEach;
  const kill = async (found: readonly ProcessEntry[]) => {
    // Namespace pids are not known any more once the processes have ended.
    const numbers = new Map(onKill && found.map(({ pid }) => [pid, namespacePid(pid, root)]));
    const groups = found.length < MANY ? NO_GROUPS : killGroups(found, processes);
    // With their groups, some have ended already.
    const killed = mainLast(found, root, processes).filter((entry) =>
      processes.isAlive(entry) ? sendSignal(entry.pid, 'SIGKILL') : groups.has(entry.group),
    );
    onKill?.(killed.map(({ pid }) => numbers.get(pid) ?? pid));
    await waitForEnd(killed, deadline - performance.now(), processes);
    return find();
  };
  let found = await kill(first);
  if (found.length === 0) return found;
  // The processes multiply faster than they are found. Forks are only blocked now: a shell whose fork(2) fails sleeps
  // for a second.
  group?.holdForks(true);
  try {
    while (found.length > 0 && performance.now() < deadline) found = await kill(stopProcesses(find, processes));
    return found;
  } finally {
    group?.holdForks(false);
  }
}

/**
 * Puts the program of a sandbox last: when it ends, the kernel kills all others of its PID namespace, which then could not
 * be told from those that had ended by themselves. It is stopped meanwhile: a shell would go on to its next command.
 */
function mainLast(
  found: readonly ProcessEntry[],
  root: ProcessRoot | undefined,
  processes: Processes,
): readonly ProcessEntry[] {
  const main = root && isSandboxed(root) ? found.find(({ pid }) => pid === root.main) : undefined;
  if (!main || found.length === 1) return found;
  signalProcesses([main], 'SIGSTOP', processes);
  return [...found.filter((entry) => entry !== main), main];
}

/**
 * Kills the process groups of processes, with what was started since they were found: no member of a group that is
 * signalled can fork any more (kill(2)). Groups with older processes that were not found are spared.
 * @returns the groups that were killed
 */
function killGroups(found: readonly ProcessEntry[], { list }: Processes): ReadonlySet<number> {
  const pids = new Set(found.map(({ pid }) => pid));
  const oldest = new Map<number, number>();
  for (const { group, startTicks } of found) {
    oldest.set(group, Math.min(startTicks, oldest.get(group) ?? Infinity));
  }
  for (const { pid, group, startTicks } of list().filter(isRunning)) {
    if (!pids.has(pid) && startTicks <= (oldest.get(group) ?? -1)) oldest.delete(group);
  }
  return new Set([...oldest.keys()].filter((group) => sendSignal(-group, 'SIGKILL')));
}

/**
 * Reports an empty result only if a second search finds nothing either: a slow search misses a process that is just
 * being started by a process that ends meanwhile, and so does the kernel's list of a control group.
 */
const confirmed =
  (find: ProcessFinder): ProcessFinder =>
  () => {
    const found = find();
    return found.length > 0 ? found : find();
  };

/** Stops all processes that `find` finds, repeatedly until there are no new ones. */
function stopProcesses(find: ProcessFinder, processes: Processes): ProcessEntry[] {
  const stopped = new Set<number>();
  for (let round = 0; ; round += 1) {
    const found = find();
    const isComplete = found.every(({ pid }) => stopped.has(pid));
    if (isComplete || round === MAX_STOP_ROUNDS) return found;
    for (const { pid } of signalProcesses(found, 'SIGSTOP', processes)) stopped.add(pid);
  }
}
