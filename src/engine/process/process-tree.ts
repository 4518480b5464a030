import { setTimeout as sleep } from 'node:timers/promises';

import { type StartMarker, startedSince } from './start-marker.js';
import type { ProcessRoot } from './process-root.js';
import { commandLine, isAlive, listProcesses, type ProcessEntry, readProcess, readTag } from './process-table.js';
import { isOriginIn, isOriginOf, markOf, readOrigin } from './session-mark.js';
import { namespacePid } from './namespace-pids.js';

/** How often the end of signalled processes is looked for. */
const POLL_MS = 10;
/** Time that the kernel gets to take away killed processes before they count as survivors. */
const KILL_SETTLE_MS = 400;
/** Each round stops half of what multiplies, at least: this is enough for what the machine can hold. */
const MAX_STOP_ROUNDS = 20;

/** A process as it is reported to clients. */
export interface ReportedProcess {
  readonly pid: number;
  readonly command: string;
}

/** Finds the processes of one session, command or daemon, anew at each call. */
export type ProcessFinder = () => ProcessEntry[];

/** A shell that runs a driver of the adapter: the driver's text says nothing about what the shell does. */
const DRIVEN_SHELL = /^(?:\S*\/)?([\w.-]+) .*(?:\bread -r __sa\b|\/shells\/drivers\/driver\.)/;

/** A command line as it is reported: of a driven shell only its name. */
const reportedCommand = (line: string): string => DRIVEN_SHELL.exec(line)?.[1] ?? line;

/** Describes a process for a report: one of a sandbox by the pid that it has there. */
export const reportProcess = (entry: ProcessEntry, root?: ProcessRoot): ReportedProcess => ({
  pid: namespacePid(entry.pid, root),
  command: reportedCommand(commandLine(entry)),
});

/** Describes processes for a report: those of a sandbox by the numbers that they have in it. */
export const reportProcesses = (entries: readonly ProcessEntry[], root?: ProcessRoot): ReportedProcess[] =>
  entries.map((entry) => reportProcess(entry, root));

/** Whether a process has not ended. */
export const isRunning = (entry: ProcessEntry): boolean => entry.state !== 'Z' && entry.state !== 'X';

/** Adds to `members` everything that descends from them. */
function addDescendants(members: Set<number>, table: readonly ProcessEntry[]): void {
  let sizeBefore: number;
  do {
    sizeBefore = members.size;
    for (const entry of table) if (members.has(entry.parent)) members.add(entry.pid);
  } while (members.size > sizeBefore);
}

/** Processes that are known to belong together, whatever they show of themselves. */
interface KnownMembers {
  /** Whether `members` is complete and cheap. */
  readonly isKeptByKernel: boolean;
  members(): readonly number[];
  /** Lets none of them start another process, or lets them again. */
  holdForks(isHeld: boolean): void;
}

/**
 * All processes that run, and which of them are known to belong to a group. The group is asked last: what was started
 * after the walk had passed its number, by a process that has ended since, is nowhere else to be found.
 */
function lookAt(group: KnownMembers | undefined): { table: ProcessEntry[]; known: ReadonlySet<number> } {
  const table = listProcesses();
  const known = new Set(group?.members());
  const seen = new Set(table.map(({ pid }) => pid));
  for (const pid of known) {
    const missed = seen.has(pid) ? undefined : readProcess(pid);
    if (missed) table.push(missed);
  }
  return { table: table.filter(isRunning), known };
}

/** A session, or a one-shot, as its processes can be told from others. */
export interface SessionScope {
  /** The tag of its processes, `instance.session`. */
  readonly tag: string;
  /** Its shell or first process; undefined once that has ended. */
  readonly root: ProcessRoot | undefined;
  readonly group?: KnownMembers | undefined;
}

/**
 * Everything that a session has started and that still runs, its shell left out: what belongs to its group, what carries
 * its tag or its mark, whatever session or parent it has moved to, what descends from the shell, and what is on its terminal.
 */
export function findSessionProcesses({ tag, root, group }: SessionScope): ProcessEntry[] {
  const { table, known } = lookAt(group);
  const own = new Set(root?.rootPids);
  const members = new Set([...known, ...own]);
  const isWithin = isOriginIn(tag);
  for (const entry of table) {
    if (entry.session === root?.sessionLeader || isWithin(readOrigin(entry.pid))) members.add(entry.pid);
  }
  addDescendants(members, table);
  return table.filter((entry) => members.has(entry.pid) && !own.has(entry.pid) && entry.pid !== process.pid);
}

/** One command of a session, as its processes can be told from those of earlier commands. */
export interface CommandScope {
  /** `instance.session.command`: what the command's programs carry in their environment. */
  readonly tag: string;
  readonly root: ProcessRoot;
  /** When the command began: subshells carry an older tag, but are younger than this. */
  readonly beginning: StartMarker;
  readonly group?: KnownMembers | undefined;
}

/**
 * What one command has started and that still runs: what carries its tag, subshells forked from the shell since it
 * began, in a sandbox orphans without a tag, what has the session's mark and no tag and has begun since, what descends from
 * these, and what shares a process group with them.
 */
export function findCommandProcesses(scope: CommandScope): ProcessEntry[] {
  const isYounger = startedSince(scope.beginning);
  const { table, known } = lookAt(scope.group);
  const { main, reaper, rootPids } = scope.root;
  const shellTag = readTag(main);
  const mark = markOf(scope.tag.slice(0, scope.tag.lastIndexOf('.')));
  const members = new Set<number>();
  const marked = new Set(known);
  for (const entry of table) {
    const origin = readOrigin(entry.pid);
    const isSubshell = entry.parent === main && origin === shellTag;
    const isUntaggedOrphan = entry.parent === reaper && (origin === undefined || origin === mark);
    if (origin === scope.tag || ((isSubshell || isUntaggedOrphan) && isYounger(entry))) members.add(entry.pid);
    if (origin === mark) marked.add(entry.pid);
  }
  for (const pid of findUntagged(scope.root, marked, table, isYounger)) members.add(pid);
  addDescendants(members, table);
  const groups = new Set(table.filter(({ pid }) => members.has(pid)).map(({ group }) => group));
  for (const { pid, group } of table) if (rootPids.includes(pid)) groups.delete(group);
  return table.filter(({ pid, group }) => !rootPids.includes(pid) && (members.has(pid) || groups.has(group)));
}

/** Members of the session without a tag of their own that have begun with the command, and descend from nothing older. */
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
 * Every process that this run of a daemon has started, by its tag or mark.
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

/** The processes of several one-shots at once, by their tags and marks. */
export function findTaggedWith(instance: string, tags: ReadonlySet<string>): ProcessEntry[] {
  const marks = new Set([...tags].map(markOf));
  return findInstanceProcesses(instance).filter((entry) => {
    const origin = readOrigin(entry.pid) ?? '';
    return marks.has(origin) || tags.has(origin.slice(0, origin.lastIndexOf('.')));
  });
}

/**
 * What has a mark and no tag: processes that have cleared their environment.
 * @param tag `instance.session` that the mark belongs to
 */
export function findMarkedOnly(tag: string): ProcessEntry[] {
  const mark = markOf(tag);
  return listProcesses().filter((entry) => isRunning(entry) && readOrigin(entry.pid) === mark);
}

/** Signals these very processes, never another that has got one's number. Gives those that were there. */
export function signalProcesses(entries: readonly ProcessEntry[], signal: NodeJS.Signals): ProcessEntry[] {
  return entries.filter((entry) => isAlive(entry) && sendSignal(entry.pid, signal));
}

/** Sends a signal to a process, or with a negative number to a process group; false when there is none. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    // ESRCH: it has ended meanwhile. EPERM: it has become another user's; it will be reported as a survivor.
    return false;
  }
}

/** Waits until none of these processes runs; gives whether it has come to that in time. */
export async function waitForEnd(entries: readonly ProcessEntry[], timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    if (!entries.some(isAlive)) return true;
    if (performance.now() >= deadline) return false;
    await sleep(POLL_MS);
  }
}

/** How processes are ended, beside the time they get. */
export interface EndOptions {
  /** Held while its members are killed, if they multiply meanwhile. */
  readonly group?: Pick<KnownMembers, 'holdForks'> | undefined;
  /** Told of processes that are killed, by the numbers that commands know. */
  readonly onKill?: ((pids: readonly number[]) => void) | undefined;
  /** Tells whether these are others than the daemon's. */
  readonly root?: ProcessRoot | undefined;
}

/**
 * Ends all that `finder` finds: SIGTERM, then after `graceMs` SIGKILL, looking again each time for what was started
 * meanwhile.
 * @returns what could not be ended: processes of another user, or in uninterruptible sleep.
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
    // A stopped process takes SIGTERM only when it goes on.
    signalProcesses(found, 'SIGCONT');
    await waitForEnd(found, deadline - performance.now());
    found = find();
  }
  return found.length === 0 ? found : killProcesses(finder, options);
}

/** Kills all that `finder` finds, until there is nothing new. Gives what could not be killed. */
export async function killProcesses(
  finder: ProcessFinder,
  { group, onKill, root }: EndOptions = {},
): Promise<ProcessEntry[]> {
  const find = confirmed(finder);
  const deadline = performance.now() + KILL_SETTLE_MS;
  const kill = async (found: readonly ProcessEntry[]) => {
    // Nobody tells them any more when they have gone.
    const numbers = new Map(onKill && found.map(({ pid }) => [pid, namespacePid(pid, root)]));
    const killed = signalProcesses(found, 'SIGKILL');
    onKill?.(killed.map(({ pid }) => numbers.get(pid) ?? pid));
    await waitForEnd(killed, deadline - performance.now());
    return find();
  };
  let found = await kill(find());
  if (found.length === 0) return found;
  // It multiplies faster than it is found. Only now: a shell that cannot fork for a moment sleeps for a second.
  group?.holdForks(true);
  try {
    while (found.length > 0 && performance.now() < deadline) found = await kill(stopProcesses(find));
    return found;
  } finally {
    group?.holdForks(false);
  }
}

/**
 * Finds nothing only if a second look finds nothing either: one that takes its time passes by who is just being started
 * by a process that ends meanwhile, and so does the kernel's list of a control group.
 */
const confirmed =
  (find: ProcessFinder): ProcessFinder =>
  () => {
    const found = find();
    return found.length > 0 ? found : find();
  };

/** Stops all that `find` finds, again and again until none is new. */
function stopProcesses(find: ProcessFinder): ProcessEntry[] {
  const stopped = new Set<number>();
  for (let round = 0; ; round += 1) {
    const found = find();
    const isComplete = found.every(({ pid }) => stopped.has(pid));
    if (isComplete || round === MAX_STOP_ROUNDS) return found;
    for (const { pid } of signalProcesses(found, 'SIGSTOP')) stopped.add(pid);
  }
}
