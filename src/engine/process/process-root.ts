import type { Processes } from '../platform/contract/processes.js';

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
  { childrenOf, innermostPid: numberInside }: Pick<Processes, 'childrenOf' | 'innermostPid'>,
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
