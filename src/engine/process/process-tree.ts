import { setTimeout as sleep } from 'node:timers/promises';

import { type StartMarker, startedSince } from './start-marker.js';
import type { ProcessRoot } from './process-root.js';
import { commandLine, isAlive, listProcesses, type ProcessEntry, readProcess, readTag } from './process-table.js';
import { isOriginOf, markOf, readOrigin } from './session-mark.js';
import { namespacePid } from './namespace-pids.js';
import { isRunning, type KnownMembers, nextSurvey, ProcessSurvey } from './process-survey.js';

/** Polling interval for the end of signalled processes, in milliseconds. */
const POLL_MS = 10;
/** Time for the kernel to remove killed processes before they count as survivors, in milliseconds. */
const KILL_SETTLE_MS = 400;
/** Each round stops at least half of a fork bomb: this is enough for all processes that the machine can hold. */
const MAX_STOP_ROUNDS = 20;

/** A process as reported to clients. */
export interface ReportedProcess {
  readonly pid: number;
  readonly command: string;
}

/** Finds the processes of one session, command or daemon; searches again at each call. */
export type ProcessFinder = () => ProcessEntry[];

/** Matches a shell that runs a driver of the adapter: the driver's text is not informative. */
const DRIVEN_SHELL = /^(?:\S*\/)?([\w.-]+) .*(?:\bread -r __sa\b|\/shells\/drivers\/driver\.)/;

/** Returns the reported command line: for a driven shell only its name. */
const reportedCommand = (line: string): string => DRIVEN_SHELL.exec(line)?.[1] ?? line;

/** Describes a process for a report: one of a sandbox with its namespace pid. */
export const reportProcess = (entry: ProcessEntry, root?: ProcessRoot): ReportedProcess => ({
  pid: namespacePid(entry.pid, root),
  command: reportedCommand(commandLine(entry)),
});

/** Describes processes for a report: those of a sandbox with their namespace pids. */
export const reportProcesses = (entries: readonly ProcessEntry[], root?: ProcessRoot): ReportedProcess[] =>
  entries.map((entry) => reportProcess(entry, root));

/** Adds all descendants of `members` to it. */
function addDescendants(members: Set<number>, table: readonly ProcessEntry[]): void {
  let sizeBefore: number;
  do {
    sizeBefore = members.size;
    for (const entry of table) if (members.has(entry.parent)) members.add(entry.pid);
  } while (members.size > sizeBefore);
}

/**
 * Returns all running processes, and which of them are known to belong to a group. The group is read last: a process
 * that was started after the walk had passed its number, by a parent that has ended since, is found nowhere else.
 */
function readTable(group: KnownMembers | undefined): { table: ProcessEntry[]; known: ReadonlySet<number> } {
  const table = listProcesses();
  const known = new Set(group?.members());
  const seen = new Set(table.map(({ pid }) => pid));
  for (const pid of known) {
    const missed = seen.has(pid) ? undefined : readProcess(pid);
    if (missed) table.push(missed);
  }
  return { table: table.filter(isRunning), known };
}

/** Identifies the processes of a session, or of a one-shot. */
export interface SessionScope {
  /** The tag of its processes, `instance.session`. */
  readonly tag: string;
  /** Its shell or first process; undefined once that has ended. */
  readonly root: ProcessRoot | undefined;
  readonly group?: KnownMembers | undefined;
}

/**
 * Finds all running processes that a session has started, without its shell: members of its group, processes with its
 * tag or mark, whatever session or parent they have moved to, descendants of the shell, and processes on its terminal.
 * @param survey by default one that is made now
 */
export function findSessionProcesses(
  { tag, root, group }: SessionScope,
  survey: ProcessSurvey = new ProcessSurvey(),
): ProcessEntry[] {
  const own = new Set(root?.rootPids);
  const known = [...survey.include(group), ...survey.inSession(root?.sessionLeader), ...survey.withTag(tag)];
  const members = survey.withDescendants([...own, ...known.map(({ pid }) => pid)]);
  return members.filter(({ pid }) => !own.has(pid) && pid !== process.pid);
}

/** Whether two searches in a row find no process of a session besides its shell; sessions ask together. */
export async function hasNoProcesses(scope: SessionScope): Promise<boolean> {
  for (let search = 0; search < 2; search += 1) {
    if (findSessionProcesses(scope, await nextSurvey()).length > 0) return false;
  }
  return true;
}

/** Identifies the processes of one command of a session, as opposed to earlier commands. */
export interface CommandScope {
  /** `instance.session.command`: the tag in the environment of the command's programs. */
  readonly tag: string;
  readonly root: ProcessRoot;
  /** Start of the command: subshells carry an older tag, but are younger than this. */
  readonly beginning: StartMarker;
  readonly group?: KnownMembers | undefined;
}

/**
 * Finds all running processes that one command has started: processes with its tag, subshells forked from the shell
 * since its start, untagged orphans in a sandbox, processes with the session's mark and no tag that were started since,
 * descendants of all these, and processes in the same process groups.
 */
export function findCommandProcesses(scope: CommandScope): ProcessEntry[] {
  const isYounger = startedSince(scope.beginning);
  const { table, known } = readTable(scope.group);
  const { members, marked } = findByOrigin(scope, table, isYounger);
  for (const pid of findUntagged(scope.root, new Set([...known, ...marked]), table, isYounger)) members.add(pid);
  addDescendants(members, table);
  const { rootPids } = scope.root;
  const groups = new Set(table.filter(({ pid }) => members.has(pid)).map(({ group }) => group));
  for (const { pid, group } of table) if (rootPids.includes(pid)) groups.delete(group);
  return table.filter(({ pid, group }) => !rootPids.includes(pid) && (members.has(pid) || groups.has(group)));
}

/**
 * Returns the processes of a command that their tag, mark or parent shows, and all processes with the session's mark
 * and no tag.
 */
function findByOrigin(
  { tag, root: { main, reaper } }: CommandScope,
  table: readonly ProcessEntry[],
  isYounger: (entry: ProcessEntry) => boolean,
): { members: Set<number>; marked: Set<number> } {
  const shellTag = readTag(main);
  const mark = markOf(tag.slice(0, tag.lastIndexOf('.')));
  const isSubshell = (parent: number, origin: string | undefined) => parent === main && origin === shellTag;
  const isUntaggedOrphan = (parent: number, origin: string | undefined) =>
    parent === reaper && (origin === undefined || origin === mark);
  const members = new Set<number>();
  const marked = new Set<number>();
  for (const entry of table) {
    const { pid, parent } = entry;
    const origin = readOrigin(pid);
    if (origin === mark) marked.add(pid);
    const isUnclear = isSubshell(parent, origin) || isUntaggedOrphan(parent, origin);
    if (origin === tag || (isUnclear && isYounger(entry))) members.add(pid);
  }
  return { members, marked };
}

/**
 * Returns members of the session without a tag of their own that were started with the command, and do not descend from
 * older ones.
 */
function findUntagged(
  root: ProcessRoot,
  known: ReadonlySet<number>,
  table: readonly ProcessEntry[],
  isYounger: (entry: ProcessEntry) => boolean,
): number[] {
  const inGroup = table.filter(({ pid }) => known.has(pid) && !root.rootPids.includes(pid));
  const older = new Set(inGroup.filter((entry) => !isYounger(entry)).map(({ pid }) => pid));
  addDescendants(older, table);
  return inGroup.flatMap(({ pid }) => (older.has(pid) ? [] : pid));
}

/**
 * Finds every process that this instance of the daemon has started, by its tag or mark.
 * @param members of the daemon's control groups
 */
export function findInstanceProcesses(instance: string, members: readonly number[] = []): ProcessEntry[] {
  const known = new Set(members);
  const isOurs = isOriginOf(instance);
  return listProcesses().filter((entry) => {
    const isOther = isRunning(entry) && entry.pid !== process.pid;
    return isOther && (known.has(entry.pid) || isOurs(readOrigin(entry.pid)));
  });
}

/** Finds the processes of several one-shots at once, by their tags and marks. */
export function findTaggedWith(instance: string, tags: ReadonlySet<string>): ProcessEntry[] {
  const marks = new Set([...tags].map(markOf));
  return findInstanceProcesses(instance).filter((entry) => {
    const origin = readOrigin(entry.pid) ?? '';
    return marks.has(origin) || tags.has(origin.slice(0, origin.lastIndexOf('.')));
  });
}

/**
 * Finds processes with a mark and no tag: they have cleared their environment.
 * @param tag `instance.session` of the mark
 */
export function findMarkedOnly(tag: string): ProcessEntry[] {
  const mark = markOf(tag);
  return listProcesses().filter((entry) => isRunning(entry) && readOrigin(entry.pid) === mark);
}

/** Signals exactly these processes, never another one with a reused pid. Returns those that existed. */
export function signalProcesses(entries: readonly ProcessEntry[], signal: NodeJS.Signals): ProcessEntry[] {
  return entries.filter((entry) => isAlive(entry) && sendSignal(entry.pid, signal));
}

/** Sends a signal to a process, or with a negative number to a process group; returns false when there is none. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    // ESRCH: the process has ended meanwhile. EPERM: it has changed its user; it will be reported as a survivor.
    return false;
  }
}

/** Waits until none of these processes runs; returns false after a timeout. */
export async function waitForEnd(entries: readonly ProcessEntry[], timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    if (!entries.some(isAlive)) return true;
    if (performance.now() >= deadline) return false;
    await sleep(POLL_MS);
  }
}

/** Options for ending processes, besides the grace period. */
export interface EndOptions {
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
  options: EndOptions = {},
): Promise<ProcessEntry[]> {
  const find = confirmed(finder);
  const deadline = performance.now() + graceMs;
  let found = find();
  while (found.length > 0 && performance.now() < deadline) {
    signalProcesses(found, 'SIGTERM');
    // A stopped process receives SIGTERM only after SIGCONT.
    signalProcesses(found, 'SIGCONT');
    await waitForEnd(found, deadline - performance.now());
    found = find();
  }
  return found.length === 0 ? found : killProcesses(finder, options);
}

/** Kills all processes that `finder` finds, until there are no new ones. Returns those that could not be killed. */
export async function killProcesses(
  finder: ProcessFinder,
  { group, onKill, root }: EndOptions = {},
): Promise<ProcessEntry[]> {
  const find = confirmed(finder);
  const deadline = performance.now() + KILL_SETTLE_MS;
  const kill = async (found: readonly ProcessEntry[]) => {
    // /proc no longer reports namespace pids once the processes have ended.
    const numbers = new Map(onKill && found.map(({ pid }) => [pid, namespacePid(pid, root)]));
    const killed = signalProcesses(found, 'SIGKILL');
    onKill?.(killed.map(({ pid }) => numbers.get(pid) ?? pid));
    await waitForEnd(killed, deadline - performance.now());
    return find();
  };
  let found = await kill(find());
  if (found.length === 0) return found;
  // The processes multiply faster than they are found. Forks are only blocked now: a shell whose fork(2) fails sleeps
  // for a second.
  group?.holdForks(true);
  try {
    while (found.length > 0 && performance.now() < deadline) found = await kill(stopProcesses(find));
    return found;
  } finally {
    group?.holdForks(false);
  }
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
function stopProcesses(find: ProcessFinder): ProcessEntry[] {
  const stopped = new Set<number>();
  for (let round = 0; ; round += 1) {
    const found = find();
    const isComplete = found.every(({ pid }) => stopped.has(pid));
    if (isComplete || round === MAX_STOP_ROUNDS) return found;
    for (const { pid } of signalProcesses(found, 'SIGSTOP')) stopped.add(pid);
  }
}
