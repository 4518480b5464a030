import { isRunning, type ProcessEntry } from '../platform/contract/process-entry.js';
import type { Processes } from '../platform/contract/processes.js';
import type { GivenPids, StartMarker } from '../platform/contract/start-marker.js';
import type { SessionScope } from './find-processes.js';
import { isOriginIn, isOriginOf } from './session-mark.js';

/** Up to this many pids are probed one by one; for more, the existing ones are listed first. */
const MAX_PROBES = 64;
/** Up to this many pids are probed even where the kernel lists those of the session: most of them have ended. */
const FEW_PROBES = 8;
/** New pids may be assigned while others are probed: largest number of rounds. */
const MAX_ROUNDS = 8;

/**
 * Finds processes of a session that were started after a start marker and still run. Examines no other processes: costs
 * 2 µs when nothing was started on the machine meanwhile, and otherwise some microseconds for each process that was.
 */
export function findNewProcesses(scope: SessionScope, beginning: StartMarker): ProcessEntry[] {
  const { processes } = scope;
  const found: ProcessEntry[] = [];
  let { newestPid } = beginning;
  // A child is created before its parent ends: a process that is missed because it has ended has its child in the next
  // round.
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const given = processes.pidsGivenSince({ at: beginning.at, newestPid });
    if (given.count === 0) break;
    let isNew: ((entry: ProcessEntry) => boolean) | undefined;
    for (const pid of candidates(scope, given)) {
      const entry = processes.read(pid);
      if (!entry || !isRunning(entry)) continue;
      // Rarely needed, and dearer than a probe: the programs of most commands have ended with them.
      isNew ??= membershipTest(scope, beginning);
      if (isNew(entry)) found.push(entry);
    }
    ({ newest: newestPid } = given);
    if (given.count === Infinity) break;
  }
  return found.filter(({ pid }) => !processes.isThread(pid));
}

/** Returns the pids that may belong to new processes of the session. */
function candidates({ group, processes }: SessionScope, given: GivenPids): readonly number[] {
  if (given.count <= FEW_PROBES) return given.list();
  if (group?.isKeptByKernel) return group.members().filter(given.includes);
  if (given.count > MAX_PROBES) return processes.pids().filter(given.includes);
  return given.list();
}

/** Returns a predicate: the process belongs to the session, is not its shell, and was started after the marker. */
function membershipTest(
  { tag, root, group, processes }: SessionScope,
  beginning: StartMarker,
): (entry: ProcessEntry) => boolean {
  const isYounger = processes.startedSince(beginning);
  const own = new Set(root?.rootPids);
  if (group?.isKeptByKernel) {
    const members = new Set(group.members());
    return (entry) => members.has(entry.pid) && isYounger(entry) && !own.has(entry.pid);
  }
  const isWithin = isOriginIn(tag);
  const isOurs = isOriginOf(tag.slice(0, tag.lastIndexOf('.')));
  return (entry) => {
    if (!isYounger(entry) || own.has(entry.pid)) return false;
    if (entry.session === root?.sessionLeader) return true;
    const origin = processes.originOf(entry);
    // No origin: most processes of the machine. A process with the origin of another session of this daemon belongs to
    // that one; a process with the origin of another daemon may run in this session.
    if (origin === undefined || isWithin(origin)) return origin !== undefined;
    return !isOurs(origin) && descendsFrom(entry, own, processes);
  };
}

/** Whether one of `ancestors` is an ancestor of a process. */
export function descendsFrom({ parent }: ProcessEntry, ancestors: ReadonlySet<number>, { read }: Processes): boolean {
  for (let pid: number | undefined = parent; pid !== undefined && pid > 1; pid = read(pid)?.parent) {
    if (ancestors.has(pid)) return true;
  }
  return false;
}
