import { setTimeout as sleep } from 'node:timers/promises';
import { uptime } from 'node:os';

import { isSandboxed, type ProcessRoot } from './process-root.js';
import {
  commandLine,
  innerPid,
  isAlive,
  listProcesses,
  type ProcessEntry,
  readTag,
  TICKS_PER_SECOND,
} from './process-table.js';

/** How often the end of signalled processes is looked for. */
const POLL_MS = 10;
/** Time that the kernel gets to take away killed processes before they count as survivors. */
const KILL_SETTLE_MS = 400;

/** A process as it is reported to clients. */
export interface ReportedProcess {
  readonly pid: number;
  readonly command: string;
}

/** Finds the processes of one session, command or daemon, anew at each call. */
export type ProcessFinder = () => ProcessEntry[];

/** Describes processes for a report: those of a sandbox by the numbers that they have in it. */
export function reportProcesses(entries: readonly ProcessEntry[], root?: ProcessRoot): ReportedProcess[] {
  const numberOf = root && isSandboxed(root) ? innerPid : (pid: number) => pid;
  return entries.map((entry) => ({ pid: numberOf(entry.pid), command: commandLine(entry) }));
}

const isRunning = (entry: ProcessEntry): boolean => entry.state !== 'Z' && entry.state !== 'X';

/** Adds to `members` everything that descends from them. */
function addDescendants(members: Set<number>, table: readonly ProcessEntry[]): void {
  let sizeBefore: number;
  do {
    sizeBefore = members.size;
    for (const entry of table) if (members.has(entry.parent)) members.add(entry.pid);
  } while (members.size > sizeBefore);
}

/**
 * Everything that a session has started and that still runs, its shell left out: what carries its tag, whatever
 * session or parent it has moved to, what descends from the shell, and what is on its terminal.
 * @param tag the session's tag, `instance.session`
 * @param root undefined once the shell has ended
 */
export function findSessionProcesses(tag: string, root: ProcessRoot | undefined): ProcessEntry[] {
  const table = listProcesses().filter(isRunning);
  const own = new Set(root?.own);
  const members = new Set(own);
  for (const entry of table) {
    if (entry.session === root?.leader || `${readTag(entry.pid) ?? ''}.`.startsWith(`${tag}.`)) members.add(entry.pid);
  }
  addDescendants(members, table);
  return table.filter((entry) => members.has(entry.pid) && !own.has(entry.pid) && entry.pid !== process.pid);
}

/** One command of a session, as its processes can be told from those of earlier commands. */
export interface CommandScope {
  /** `instance.session.command`: what the command's programs carry in their environment. */
  readonly tag: string;
  readonly root: ProcessRoot;
  /** How long ago the command began, in milliseconds: subshells carry an older tag, but are younger than this. */
  readonly ageMs: number;
}

/**
 * What one command has started and that still runs: what carries its tag, subshells forked from the shell since it
 * began, in a sandbox orphans without a tag, what descends from these, and what shares a process group with them.
 */
export function findCommandProcesses(scope: CommandScope): ProcessEntry[] {
  const table = listProcesses().filter(isRunning);
  const since = Math.floor(uptime() * TICKS_PER_SECOND - (scope.ageMs * TICKS_PER_SECOND) / 1000) - 1;
  const { main, reaper, own } = scope.root;
  const shellTag = readTag(main);
  const members = new Set<number>();
  for (const entry of table) {
    const tag = readTag(entry.pid);
    const isYounger = entry.startTicks >= since;
    const isSubshell = entry.parent === main && isYounger && tag === shellTag;
    const isUntaggedOrphan = entry.parent === reaper && isYounger && tag === undefined;
    if (tag === scope.tag || isSubshell || isUntaggedOrphan) members.add(entry.pid);
  }
  addDescendants(members, table);
  const groups = new Set(table.filter(({ pid }) => members.has(pid)).map(({ group }) => group));
  for (const { pid, group } of table) if (own.includes(pid)) groups.delete(group);
  return table.filter(({ pid, group }) => !own.includes(pid) && (members.has(pid) || groups.has(group)));
}

/** Every process that this run of a daemon has started, by its tag. */
export function findInstanceProcesses(instance: string): ProcessEntry[] {
  return listProcesses().filter((entry) => {
    const isOurs = isRunning(entry) && entry.pid !== process.pid;
    return isOurs && readTag(entry.pid)?.startsWith(`${instance}.`) === true;
  });
}

/** The processes of several sessions or one-shots at once, by their tags. */
export function findTaggedWith(instance: string, tags: ReadonlySet<string>): ProcessEntry[] {
  return findInstanceProcesses(instance).filter((entry) => {
    const tag = readTag(entry.pid) ?? '';
    return tags.has(tag.slice(0, tag.lastIndexOf('.')));
  });
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

/**
 * Ends all that `find` finds: SIGTERM, then after `graceMs` SIGKILL, looking again each time for what was started
 * meanwhile.
 * @returns what could not be ended: processes of another user, or in uninterruptible sleep.
 */
export async function endProcesses(find: ProcessFinder, graceMs: number): Promise<ProcessEntry[]> {
  const deadline = performance.now() + graceMs;
  let found = find();
  while (found.length > 0 && performance.now() < deadline) {
    signalProcesses(found, 'SIGTERM');
    // A stopped process takes SIGTERM only when it goes on.
    signalProcesses(found, 'SIGCONT');
    await waitForEnd(found, deadline - performance.now());
    found = find();
  }
  const killDeadline = performance.now() + KILL_SETTLE_MS;
  while (found.length > 0) {
    signalProcesses(found, 'SIGKILL');
    await waitForEnd(found, killDeadline - performance.now());
    found = find();
    if (performance.now() >= killDeadline) break;
  }
  return found;
}
