import type { ProcessRoot } from './process-root.js';
import { isRunning, type ProcessEntry } from '../platform/contract/process-entry.js';
import type { Processes } from '../platform/contract/processes.js';
import type { StartMarker } from '../platform/contract/start-marker.js';
import { type KnownMembers, nextSurvey, ProcessSurvey } from './process-survey.js';
import { isOriginOf, markOf } from './session-mark.js';

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
 * @param survey by default one that is made now
 */
export function findSessionProcesses(
  { tag, root, group, processes }: SessionScope,
  survey: ProcessSurvey = new ProcessSurvey(processes),
): ProcessEntry[] {
  const own = new Set(root?.rootPids);
  const known = [...survey.include(group), ...survey.inSession(root?.sessionLeader), ...survey.withTag(tag)];
  const members = survey.withDescendants([...own, ...known.map(({ pid }) => pid)]);
  return members.filter(({ pid }) => !own.has(pid) && pid !== process.pid);
}

/** Whether two searches in a row find no process of a session besides its shell; sessions ask together. */
export async function hasNoProcesses(scope: SessionScope): Promise<boolean> {
  for (let search = 0; search < 2; search += 1) {
    if (findSessionProcesses(scope, await nextSurvey(scope.processes)).length > 0) return false;
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
  const survey = new ProcessSurvey(processes);
  const known = survey.include(scope.group);
  const { named, marked } = findByOrigin(scope, survey, isYounger);
  const untagged = findUntagged(scope.root, [...known, ...marked], survey, isYounger);
  const members = survey.withDescendants([...named, ...untagged].map(({ pid }) => pid));
  const { rootPids } = scope.root;
  const isRoot = ({ pid }: ProcessEntry) => rootPids.includes(pid);
  const groups = new Set(members.map(({ group }) => group));
  for (const entry of survey.entries) if (isRoot(entry)) groups.delete(entry.group);
  const pids = new Set(members.map(({ pid }) => pid));
  return survey.entries.filter((entry) => !isRoot(entry) && (pids.has(entry.pid) || groups.has(entry.group)));
}

/**
 * Returns the processes of a command that their tag, mark or parent shows, and all processes with the session's mark
 * and no tag.
 */
function findByOrigin(
  { tag, root: { main, reaper }, processes }: CommandScope,
  survey: ProcessSurvey,
  isYounger: (entry: ProcessEntry) => boolean,
): { named: ProcessEntry[]; marked: ProcessEntry[] } {
  const shellTag = processes.tagOf(main);
  const mark = markOf(tag.slice(0, tag.lastIndexOf('.')));
  const isSubshell = (parent: number, origin: string | undefined) => parent === main && origin === shellTag;
  const isUntaggedOrphan = (parent: number, origin: string | undefined) =>
    parent === reaper && (origin === undefined || origin === mark);
  const named: ProcessEntry[] = [];
  const marked: ProcessEntry[] = [];
  for (const entry of survey.entries) {
    const origin = survey.originOf(entry);
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
  survey: ProcessSurvey,
  isYounger: (entry: ProcessEntry) => boolean,
): ProcessEntry[] {
  const others = known.filter(({ pid }) => !rootPids.includes(pid));
  const older = survey.withDescendants(others.filter((entry) => !isYounger(entry)).map(({ pid }) => pid));
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
