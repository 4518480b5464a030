import { setTimeout as sleep } from 'node:timers/promises';

import {
  type GivenPids,
  isListedByProgram,
  isRunning,
  type ProcessEntry,
  type Processes,
  type StartMarker,
} from '../platform/platform.js';
import { type LeftOutput, RestOfOutput } from './ending-filters.js';
import { findSessionProcesses, namespacePid, type ProcessRoot, type SessionScope } from './find-processes.js';
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

/** A process as reported to clients. */
export interface ReportedProcess {
  readonly pid: number;
  readonly command: string;
}

/** Matches a shell that runs a driver of the adapter: the driver's text is not informative. */
const DRIVEN_SHELL = /^(?:\S*\/)?([\w.-]+) .*(?:\bread -r __sa\b|\/shells\/drivers\/driver\.)/;

/** Returns the reported command line: for a driven shell only its name. */
const reportedCommand = (line: string): string => DRIVEN_SHELL.exec(line)?.[1] ?? line;

/** Describes a process for a report: one of a sandbox with its namespace pid. */
const reportProcess = (entry: ProcessEntry, { commandLine }: Processes, root?: ProcessRoot): ReportedProcess => ({
  pid: namespacePid(entry.pid, root),
  command: reportedCommand(commandLine(entry)),
});

/** Describes processes for a report: those of a sandbox with their namespace pids. */
export const reportProcesses = (
  entries: readonly ProcessEntry[],
  processes: Processes,
  root?: ProcessRoot,
): ReportedProcess[] => entries.map((entry) => reportProcess(entry, processes, root));

/**
 * Pauses between searches, in milliseconds: a process that has just been forked still shows the command line of its
 * shell, and a launcher such as setsid(1) soon execs another program.
 */
const PAUSES_MS = [3, 6, 12, 24];
/**
 * The same as a multiple where a program lists processes: the platform cannot tell there that a process still
 * waits for a CPU, and a few milliseconds more are nothing beside the search.
 */
const PAUSE_BY_PROGRAM = 4;
/** Pause, in milliseconds, while a young process still waits for a CPU to get to its exec(2) on a loaded machine. */
const LOADED_PAUSE_MS = 24;
/** Pause, in milliseconds, while filters are waited for. */
const FILTER_PAUSE_MS = 5;

/** Where to search, and how to recognise processes that are still appearing. */
interface BackgroundProcessesQuery {
  readonly scope: SessionScope;
  readonly output: LeftOutput;
  readonly isAppearing: (entry: ProcessEntry) => boolean;
}

/**
 * Finds the processes that a command has left running, and searches again until new processes have reached their final
 * program, and filters have printed the rest of the output. After the first search only the processes found, and those
 * started since, are examined.
 */
export async function findBackgroundProcesses(query: BackgroundProcessesQuery): Promise<ProcessEntry[]> {
  const { scope, isAppearing } = query;
  const { processes } = scope;
  const output = new RestOfOutput(scope, query.output);
  let last: Search | undefined;
  let before: string | undefined;
  for (let round = 0; ; round += 1) {
    last = await processes.ask(() => search(scope, last));
    const { seen, found } = last;
    output.read(found);
    // A process that has ended meanwhile may have started another one before.
    const hasLost = found.length < seen.length;
    const isMissing = hasLost || (output.hasHolder && found.length === 0);
    const shown = found.map(({ pid, name }) => `${pid} ${name}`).join();
    const isSettled = shown === before || !found.some(processes.isYoung);
    const appearing = found.filter(isAppearing);
    const pause = output.isComing ? FILTER_PAUSE_MS : pauseAfter(round, processes, appearing);
    const isDone = !isMissing && isSettled && appearing.length === 0;
    if (pause === undefined || (isDone && !output.isComing)) return [...found];
    before = shown;
    await sleep(pause);
  }
}

/** What a search has found, and when it began. */
interface Search {
  readonly beginning: StartMarker;
  readonly seen: readonly ProcessEntry[];
  readonly living: readonly ProcessEntry[];
  /** Those that are not about to end. */
  readonly found: readonly ProcessEntry[];
}

/** Searches everywhere, or after another search, for what has been started since. */
function search(scope: SessionScope, last: Search | undefined): Search {
  const { processes } = scope;
  const since = last?.beginning ?? processes.markStart();
  const earlier = last?.living ?? findSessionProcesses(scope);
  const beginning = processes.markStart();
  const known = new Set(earlier.map(({ pid }) => pid));
  const seen = [...earlier, ...findNewProcesses(scope, since).filter(({ pid }) => !known.has(pid))];
  const living = seen.flatMap((entry) => asItIsNow(entry, processes));
  // During execve(2) a process looks like one that is ending.
  return { beginning, seen, living, found: living.filter((entry) => !processes.isEnding(entry)) };
}

/** Returns the pause after a search, in milliseconds; undefined when there is no use in another one. */
function pauseAfter(round: number, processes: Processes, appearing: readonly ProcessEntry[]): number | undefined {
  const pause = PAUSES_MS[round] ?? (appearing.some(processes.isWaitingForCpu) ? LOADED_PAUSE_MS : undefined);
  return pause && pause * (isListedByProgram(processes) ? PAUSE_BY_PROGRAM : 1);
}

/** Returns the current state of a process; empty if it has ended. */
function asItIsNow(entry: ProcessEntry, { isAlive, read }: Processes): readonly ProcessEntry[] {
  const now = isAlive(entry) ? read(entry.pid) : undefined;
  return now ? [now] : [];
}

/**
 * Describes the processes that stay. A subshell shows its shell's command line, which is not informative: it is
 * reported as a subshell.
 */
export function reportBackgroundProcesses(
  entries: readonly ProcessEntry[],
  shell: { readonly line: string | undefined; readonly name: string },
  processes: Processes,
  root?: ProcessRoot,
): ReportedProcess[] {
  const staying = entries.filter((entry) => processes.isAlive(entry) && !processes.isEnding(entry));
  return staying.map((entry) => {
    if (processes.commandLine(entry) !== shell.line) return reportProcess(entry, processes, root);
    return { ...reportProcess(entry, processes, root), command: `(subshell of ${shell.name})` };
  });
}

/** Returns the command line of a process, as its forked processes show it. */
export function commandLineOf(pid: number, processes: Processes): string {
  return processes.commandLine({ pid, name: '' });
}
