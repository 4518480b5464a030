import { innermostPid, listChildren } from './process-table.js';

/** The processes that a shell, or a program, consists of before it has started anything. */
export interface ProcessRoot {
  /** What the daemon has started: leads its session. In a sandbox it is bubblewrap, and the sandbox ends with it. */
  readonly sessionLeader: number;
  /** The shell or program itself. */
  readonly main: number;
  /** Its number in the eyes of commands, which nobody tells any more once it has ended. */
  readonly mainNamespacePid: number;
  /** In a sandbox, the process whose children all orphans become. */
  readonly reaper: number | undefined;
  /** All of these. */
  readonly rootPids: readonly number[];
}

/** Of a program that is not in a sandbox. */
export const plainRoot = (pid: number): ProcessRoot => ({
  sessionLeader: pid,
  main: pid,
  mainNamespacePid: pid,
  reaper: undefined,
  rootPids: [pid],
});

/**
 * Of a program in a sandbox, by the process that the daemon has started: bubblewrap, outside, has one child, the first
 * process of the sandbox; whose first child is the program. Undefined as long as they are not there.
 */
export function sandboxRoot(sessionLeader: number): ProcessRoot | undefined {
  const reaper = listChildren(sessionLeader)[0]?.pid;
  const main = reaper === undefined ? undefined : listChildren(reaper)[0]?.pid;
  if (reaper === undefined || main === undefined) return undefined;
  return { sessionLeader, main, mainNamespacePid: innermostPid(main), reaper, rootPids: [sessionLeader, reaper, main] };
}

/** What is around the shell or program: in a sandbox its first processes, which end with it. */
export const sandboxPids = ({ rootPids, main }: ProcessRoot): number[] => rootPids.filter((pid) => pid !== main);

/** Whether its processes have other numbers in its commands' eyes than in the daemon's. */
export const isSandboxed = ({ reaper }: ProcessRoot): boolean => reaper !== undefined;
