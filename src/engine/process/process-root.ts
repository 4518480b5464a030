import { innermostPid, listChildren } from './process-table.js';

/** The processes of a shell or program before it has started anything. */
export interface ProcessRoot {
  /**
   * The process that the daemon has started: leads its session. In a sandbox it is bubblewrap, and the sandbox ends
   * with it.
   */
  readonly sessionLeader: number;
  /** The shell or program itself. */
  readonly main: number;
  /** Namespace pid of `main`, which /proc no longer reports once it has ended. */
  readonly mainNamespacePid: number;
  /** In a sandbox, the process that becomes the parent of all orphans. */
  readonly reaper: number | undefined;
  /** All of these. */
  readonly rootPids: readonly number[];
}

/** Returns the root of a program that is not in a sandbox. */
export const plainRoot = (pid: number): ProcessRoot => ({
  sessionLeader: pid,
  main: pid,
  mainNamespacePid: pid,
  reaper: undefined,
  rootPids: [pid],
});

/**
 * Returns the root of a program in a sandbox, by the process that the daemon has started: bubblewrap, outside, has one
 * child, the first process of the sandbox; the first child of that is the program. Undefined until they exist.
 */
export function sandboxRoot(sessionLeader: number): ProcessRoot | undefined {
  const reaper = listChildren(sessionLeader)[0]?.pid;
  const main = reaper === undefined ? undefined : listChildren(reaper)[0]?.pid;
  if (reaper === undefined || main === undefined) return undefined;
  return { sessionLeader, main, mainNamespacePid: innermostPid(main), reaper, rootPids: [sessionLeader, reaper, main] };
}

/** Returns the root processes without the shell or program: in a sandbox its first processes, which end with it. */
export const sandboxPids = ({ rootPids, main }: ProcessRoot): number[] => rootPids.filter((pid) => pid !== main);

/** Whether commands see other pids for the processes than the daemon does. */
export const isSandboxed = ({ reaper }: ProcessRoot): boolean => reaper !== undefined;
