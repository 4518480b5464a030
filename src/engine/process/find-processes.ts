import { closeSync, readdirSync } from 'node:fs';
import { isatty } from 'node:tty';

import { isRunning, type ProcessEntry, type Processes, type StartMarker } from '../platform/platform.js';
import { type KnownMembers, nextSnapshot, ProcessSnapshot } from './process-snapshot.js';
import { isOriginOf, markOf } from './session-mark.js';

/** The processes of a shell or program before it has started anything. */
export interface ProcessRoot {
  /**
   * The process that the daemon has started: leads its session. In a sandbox it is bubblewrap, and the sandbox ends
   * with it.
   */
  readonly sessionLeader: number;
  /** The shell or program itself. */
  readonly main: number;
  /** Namespace pid of `main`, which the kernel no longer reports once it has ended. */
  readonly mainNamespacePid: number;
  /** In a sandbox, the process that becomes the parent of all orphans. */
  readonly reaper: number | undefined;
  /** All of these. */
  readonly rootPids: readonly number[];
  /** Returns the pid that a process has in the sandbox; the same pid without one. */
  readonly numberInside: (pid: number) => number;
}

/** Returns the root of a program that is not in a sandbox. */
export const plainRoot = (pid: number): ProcessRoot => ({
  sessionLeader: pid,
  main: pid,
  mainNamespacePid: pid,
  reaper: undefined,
  rootPids: [pid],
  numberInside: (other) => other,
});

/**
 * Returns the root of a program in a sandbox, by the process that the daemon has started: bubblewrap, outside, has one
 * child, the first process of the sandbox; the first child of that is the program. Undefined until they exist.
 */
export function sandboxRoot(
  sessionLeader: number,
  { childrenOf, innermostPid: numberInside }: Processes,
): ProcessRoot | undefined {
  const reaper = childrenOf(sessionLeader)[0]?.pid;
  const main = reaper === undefined ? undefined : childrenOf(reaper)[0]?.pid;
  if (reaper === undefined || main === undefined) return undefined;
  const rootPids = [sessionLeader, reaper, main];
  return { sessionLeader, main, mainNamespacePid: numberInside(main), reaper, rootPids, numberInside };
}

/** Returns the root processes without the shell or program: in a sandbox its first processes, which end with it. */
export const sandboxPids = ({ rootPids, main }: ProcessRoot): number[] => rootPids.filter((pid) => pid !== main);

/** Whether commands see other pids for the processes than the daemon does. */
export const isSandboxed = ({ reaper }: ProcessRoot): boolean => reaper !== undefined;

/** Identifies the processes of a session, or of a one-shot. */
export interface SessionScope {
  /** The tag of its processes, `instance.session`. */
  readonly tag: string;
  /** Its shell or first process; undefined once that has ended. */
  readonly root: ProcessRoot | undefined;
  readonly group?: KnownMembers | undefined;
  readonly processes: Processes;
}

/**
 * Finds all running processes that a session has started, without its shell: members of its group, processes with its
 * tag or mark, whatever session or parent they have moved to, descendants of the shell, and processes on its terminal.
 * @param snapshot by default one that is made now
 */
export function findSessionProcesses(
  { tag, root, group, processes }: SessionScope,
  snapshot: ProcessSnapshot = new ProcessSnapshot(processes),
): ProcessEntry[] {
  const own = new Set(root?.rootPids);
  const known = [...snapshot.include(group), ...snapshot.inSession(root?.sessionLeader), ...snapshot.withTag(tag)];
  const members = snapshot.withDescendants([...own, ...known.map(({ pid }) => pid)]);
  return members.filter(({ pid }) => !own.has(pid) && pid !== process.pid);
}

/** Whether two searches in a row find no process of a session besides its shell; sessions ask together. */
export async function hasNoProcesses(scope: SessionScope): Promise<boolean> {
  for (let search = 0; search < 2; search += 1) {
    if (findSessionProcesses(scope, await nextSnapshot(scope.processes)).length > 0) return false;
  }
  return true;
}

/** Identifies the processes of one command of a session, as opposed to earlier commands. */
interface CommandScope {
  /** `instance.session.command`: the tag in the environment of the command's programs. */
  readonly tag: string;
  readonly root: ProcessRoot;
  /** Start of the command: subshells carry an older tag, but are younger than this. */
  readonly beginning: StartMarker;
  readonly group?: KnownMembers | undefined;
  readonly processes: Processes;
}

/**
 * Finds all running processes that one command has started: processes with its tag, subshells forked from the shell
 * since its start, untagged orphans in a sandbox, processes with the session's mark and no tag that were started since,
 * descendants of all these, and processes in the same process groups.
 */
export function findCommandProcesses(scope: CommandScope): ProcessEntry[] {
  const { processes } = scope;
  const isYounger = processes.startedSince(scope.beginning);
  const snapshot = new ProcessSnapshot(processes);
  const known = snapshot.include(scope.group);
  const { named, marked } = findByOrigin(scope, snapshot, isYounger);
  const untagged = findUntagged(scope.root, [...known, ...marked], snapshot, isYounger);
  const members = snapshot.withDescendants([...named, ...untagged].map(({ pid }) => pid));
  const { rootPids } = scope.root;
  const isRoot = ({ pid }: ProcessEntry) => rootPids.includes(pid);
  const groups = new Set(members.map(({ group }) => group));
  for (const entry of snapshot.running) if (isRoot(entry)) groups.delete(entry.group);
  const pids = new Set(members.map(({ pid }) => pid));
  return snapshot.running.filter((entry) => !isRoot(entry) && (pids.has(entry.pid) || groups.has(entry.group)));
}

/**
 * Returns the processes of a command that their tag, mark or parent shows, and all processes with the session's mark
 * and no tag.
 */
function findByOrigin(
  { tag, root: { main, reaper }, processes }: CommandScope,
  snapshot: ProcessSnapshot,
  isYounger: (entry: ProcessEntry) => boolean,
): { named: ProcessEntry[]; marked: ProcessEntry[] } {
  const shellTag = processes.tagOf(main);
  const mark = markOf(tag.slice(0, tag.lastIndexOf('.')));
  const isSubshell = (parent: number, origin: string | undefined) => parent === main && origin === shellTag;
  const isUntaggedOrphan = (parent: number, origin: string | undefined) =>
    parent === reaper && (origin === undefined || origin === mark);
  const named: ProcessEntry[] = [];
  const marked: ProcessEntry[] = [];
  for (const entry of snapshot.running) {
    const origin = snapshot.originOf(entry);
    if (origin === mark) marked.push(entry);
    const isUnclear = isSubshell(entry.parent, origin) || isUntaggedOrphan(entry.parent, origin);
    if (origin === tag || (isUnclear && isYounger(entry))) named.push(entry);
  }
  return { named, marked };
}

/**
 * Returns members of the session without a tag of their own that were started with the command, and do not descend from
 * older ones.
 */
function findUntagged(
  { rootPids }: ProcessRoot,
  known: readonly ProcessEntry[],
  snapshot: ProcessSnapshot,
  isYounger: (entry: ProcessEntry) => boolean,
): ProcessEntry[] {
  const others = known.filter(({ pid }) => !rootPids.includes(pid));
  const older = snapshot.withDescendants(others.filter((entry) => !isYounger(entry)).map(({ pid }) => pid));
  const isOlder = new Set(older.map(({ pid }) => pid));
  return others.filter(({ pid }) => !isOlder.has(pid));
}

/**
 * Finds every process that this instance of the daemon has started, by its tag or mark.
 * @param members of the daemon's control groups
 */
export function findInstanceProcesses(
  instance: string,
  { list, originOf }: Processes,
  members: readonly number[] = [],
): ProcessEntry[] {
  const known = new Set(members);
  const isOurs = isOriginOf(instance);
  return list().filter((entry) => {
    const isOther = isRunning(entry) && entry.pid !== process.pid;
    return isOther && (known.has(entry.pid) || isOurs(originOf(entry)));
  });
}

/** Finds the processes of several one-shots at once, by their tags and marks. */
export function findTaggedWith(instance: string, tags: ReadonlySet<string>, processes: Processes): ProcessEntry[] {
  const marks = new Set([...tags].map(markOf));
  return findInstanceProcesses(instance, processes).filter((entry) => {
    const origin = processes.originOf(entry) ?? '';
    return marks.has(origin) || tags.has(origin.slice(0, origin.lastIndexOf('.')));
  });
}

/**
 * Finds processes with a mark and no tag: they have cleared their environment.
 * @param tag `instance.session` of the mark
 */
export function findMarkedOnly(tag: string, { list, originOf }: Processes): ProcessEntry[] {
  const mark = markOf(tag);
  return list().filter((entry) => isRunning(entry) && originOf(entry) === mark);
}

/** Lists the open descriptors of the process that lists it, on Linux, macOS and the BSDs. */
const OWN_DESCRIPTORS = '/dev/fd';

/**
 * Closes terminals inherited from the parent process. The daemon's terminals have no close-on-exec flag, and its
 * children must not get access to a session's terminal.
 */
export function closeInheritedTerminals(): void {
  for (const fd of readdirSync(OWN_DESCRIPTORS).map(Number)) {
    // The descriptor of the listing itself is closed by now, and no terminal.
    if (fd > 2 && isatty(fd)) closeSync(fd);
  }
}

/** Returns the namespace pid of a process: in a sandbox, commands see other pids than the daemon does. */
export function namespacePid(pid: number, root: ProcessRoot | undefined): number {
  if (!root || !isSandboxed(root)) return pid;
  return pid === root.main ? root.mainNamespacePid : root.numberInside(pid);
}

/** Namespace pids, cached for processes that have ended since the last two samples: the kernel no longer reports them. */
export class NamespacePids {
  readonly #root: () => ProcessRoot | undefined;
  #earlier: ReadonlyMap<number, number> = new Map();
  #last: ReadonlyMap<number, number> = new Map();

  /** @param root determines whether there is a sandbox; undefined once it has ended */
  constructor(root: () => ProcessRoot | undefined) {
    this.#root = root;
  }

  /** Records the processes of a sample. */
  note(pids: readonly number[]): void {
    const root = this.#root();
    if (!root || !isSandboxed(root)) return;
    this.#earlier = this.#last;
    this.#last = new Map(pids.map((pid) => [pid, this.#earlier.get(pid) ?? root.numberInside(pid)]));
  }

  /** Returns the namespace pid of a process; the pid itself without a sandbox. */
  of(pid: number): number {
    return this.#last.get(pid) ?? this.#earlier.get(pid) ?? namespacePid(pid, this.#root());
  }
}
