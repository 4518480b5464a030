import { type ProcessRoot, sandboxRoot } from '../process/process-root.js';
import type { ProcessEntry } from '../platform/contract/process-entry.js';
import type { Processes } from '../platform/contract/processes.js';
import { isOriginIn } from '../process/session-mark.js';
import { ProcessSnapshot } from '../usage/process-snapshot.js';

/**
 * The first process of a group. Its start time, where known, distinguishes it from a later process with the same pid.
 */
export interface Root {
  readonly pid: number;
  readonly startTicks: number | undefined;
}

/** Determines which processes belong to a group. */
export interface Membership {
  /**
   * Returns all members.
   * @param known members in the last sample
   * @param root first process; undefined before it has started
   */
  find(snapshot: ProcessSnapshot, known: ReadonlyMap<number, ProcessEntry>, root: Root | undefined): ProcessEntry[];
  /** Returns those members that only frame the group, and are not counted. */
  frameOf(root: Root | undefined): readonly number[];
  /** Returns the process that waits for the children of commands. */
  reaperOf(root: Root): number | undefined;
  /** Returns the current members, as far as known without a full sample. */
  now(known: ReadonlyMap<number, ProcessEntry>, root: Root | undefined): readonly number[];
}

/**
 * The processes of a session, found by sampling: those with its tag or mark, on its terminal, or descended from a
 * member. Once found, a process stays a member wherever it moves.
 * @param tag `instance.session`
 */
export function observedMembers({ isAlive }: Processes, tag: string): Membership {
  const isWithin = isOriginIn(tag);
  return {
    find: (snapshot, known, root) => {
      // Called for each process of the machine and each group: the cheapest check comes first.
      const isMember = (entry: ProcessEntry) =>
        entry.session === root?.pid ||
        known.get(entry.pid)?.startTicks === entry.startTicks ||
        isWithin(snapshot.originOf(entry)) ||
        stillThere(root, entry) === entry.pid;
      const seeds: number[] = [];
      for (const entry of snapshot.all()) if (isMember(entry)) seeds.push(entry.pid);
      return snapshot.of(snapshot.descendantsOf(seeds));
    },
    frameOf: () => [],
    reaperOf: (root) => root.pid,
    now: (known) => [...known.values()].filter(isAlive).map(({ pid }) => pid),
  };
}

/** The processes of a PID namespace: all of them descend from its first process (pid_namespaces(7)). */
export function namespaceMembers(processes: Processes): Membership {
  // Searched for until it exists; then it stays the same as long as the namespace does.
  let own: ProcessRoot | undefined;
  const ownOf = ({ pid }: Root) => (own ??= sandboxRoot(pid, processes));
  return {
    find: (snapshot, _known, root) => {
      const leader = root && stillThere(root, snapshot.of([root.pid])[0]);
      return leader === undefined ? [] : snapshot.of(snapshot.descendantsOf([leader]));
    },
    frameOf: (root) => {
      const { sessionLeader, reaper } = (root && ownOf(root)) ?? {};
      return [sessionLeader, reaper].filter((pid) => pid !== undefined);
    },
    reaperOf: (root) => ownOf(root)?.main,
    now: (_known, root) => {
      const leader = root && stillThere(root, processes.read(root.pid));
      if (leader === undefined) return [];
      // The lists of children are not sufficient: they are kept per thread, and any thread may start a process.
      return [...new ProcessSnapshot(processes).descendantsOf([leader])];
    },
  };
}

/** Returns the pid of the first process if it still exists in a snapshot or now; undefined otherwise. */
const stillThere = (root: Root | undefined, entry: ProcessEntry | undefined): number | undefined =>
  root && entry && (root.startTicks ?? entry.startTicks) === entry.startTicks ? root.pid : undefined;
