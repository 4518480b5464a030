import { type StartMarker, type GivenPids, pidsGivenSince, startedSince } from './start-marker.js';
import { isThread, listPids, type ProcessEntry, readProcess } from './process-table.js';
import { isRunning, type SessionScope } from './process-tree.js';
import { isOriginIn, isOriginOf, readOrigin } from './session-mark.js';

/** Fewer process numbers than this are tried one by one; of more, those that exist are listed first. */
const MAX_PROBES = 64;
/** While numbers are tried, others are given away: how often those are tried too. */
const MAX_ROUNDS = 8;

/**
 * Processes of a session that were started since a beginning and still run. Looks at no others: where nothing was started
 * on the machine meanwhile it costs 2 µs, and else some microseconds for each process that was.
 */
export function findNewProcesses(scope: SessionScope, beginning: StartMarker): ProcessEntry[] {
  const found: ProcessEntry[] = [];
  let isNew: ((entry: ProcessEntry) => boolean) | undefined;
  let { newestPid } = beginning;
  // A process is born before the one that starts it ends: whoever is missed for having ended has its child in the next round.
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const given = pidsGivenSince({ at: beginning.at, newestPid });
    if (given.count === 0) break;
    isNew ??= membershipTest(scope, beginning);
    for (const pid of candidates(scope, given)) {
      const entry = readProcess(pid);
      if (entry && isRunning(entry) && isNew(entry)) found.push(entry);
    }
    ({ newest: newestPid } = given);
    if (given.count === Infinity) break;
  }
  return found.filter(({ pid }) => !isThread(pid));
}

/** Numbers among which those of new processes of the session are. */
function candidates({ group }: SessionScope, given: GivenPids): readonly number[] {
  if (group?.isKeptByKernel) return group.members().filter(given.includes);
  if (given.count > MAX_PROBES) return listPids().filter(given.includes);
  return given.list();
}

/** Tells whether a process belongs to the session, is not its shell, and has started since. */
function membershipTest({ tag, root, group }: SessionScope, beginning: StartMarker): (entry: ProcessEntry) => boolean {
  const isYounger = startedSince(beginning);
  const own = new Set(root?.rootPids);
  if (group?.isKeptByKernel) return (entry) => isYounger(entry) && !own.has(entry.pid);
  const isWithin = isOriginIn(tag);
  const isOurs = isOriginOf(tag.slice(0, tag.lastIndexOf('.')));
  return (entry) => {
    if (!isYounger(entry) || own.has(entry.pid)) return false;
    if (entry.session === root?.sessionLeader) return true;
    const origin = readOrigin(entry.pid);
    // Most of the machine's. What has the sign of another session of this daemon belongs to that one; of another daemon, it
    // may run in this session.
    if (origin === undefined || isWithin(origin)) return origin !== undefined;
    return !isOurs(origin) && descendsFrom(entry, own);
  };
}

/** Whether one of these is among the parents of a process. */
export function descendsFrom({ parent }: ProcessEntry, ancestors: ReadonlySet<number>): boolean {
  for (let pid: number | undefined = parent; pid !== undefined && pid > 1; pid = readProcess(pid)?.parent) {
    if (ancestors.has(pid)) return true;
  }
  return false;
}
