import type { ProcessEntry, Writes } from './process-entry.js';
import type { ProcessClock } from './start-marker.js';

/**
 * Which list of processes serves a question: only one that begins after it (`new`), also one that is just being made
 * (`begun`), or each that was begun after a moment: on the monotonic clock, in milliseconds.
 */
export type ListAge = 'new' | 'begun' | number;

/** The processes of the machine as they are listed. */
export interface ProcessTable {
  /**
   * Lists all processes without blocking, and then calls `ask`: what it asks before it returns is answered from that list,
   * except by `readNow`. Undefined where no question takes long. If that fails, each question tries again.
   * @param age by default 'new'
   */
  readonly askAside: (<T>(ask: () => T, age?: ListAge) => Promise<T>) | undefined;
  /** CPU time of the program that lists processes, in milliseconds; 0 without one. */
  readonly listMs: () => number;
  /** Reads one process; undefined when it does not exist. */
  readonly read: (pid: number) => ProcessEntry | undefined;
  /** The same, and certainly as it is after what was done to it before: after a signal. */
  readonly readNow: (pid: number) => ProcessEntry | undefined;
  /**
   * The same where it costs next to nothing, else what the last list shows: undefined if it does not have the process, or was
   * begun before a moment, on the monotonic clock, in milliseconds.
   */
  readonly readCheaply: (pid: number, since: number) => ProcessEntry | undefined;
  /** Reads every process of the machine. */
  readonly list: () => ProcessEntry[];
  /** Returns the pids of all processes of the machine. */
  readonly pids: () => number[];
  /** Returns the children of a process, including those that have ended and were not waited for. */
  readonly childrenOf: (pid: number) => ProcessEntry[];
  /** Returns the arguments of a process, starting with its name; empty when not available. */
  readonly argumentsOf: (pid: number) => readonly string[];
  /** Returns the command line of a process for display. */
  readonly commandLine: (entry: Pick<ProcessEntry, 'pid' | 'name'>) => string;
  /** Has all lists from now on tell which program a process runs. Must be called before `programOf`. */
  readonly followProgram: (pid: number) => void;
  /** Returns a text that another program in the place of this one would not have; undefined without such a process. */
  readonly programOf: (pid: number) => string | undefined;
  /** Describes the activity of a process for a message: its state, and the kernel function in which it waits. */
  readonly whereabouts: (pid: number) => { readonly state: string; readonly waitsIn: string };
  /** Returns the pid of a process in its sandbox, or its own pid without one. */
  readonly innermostPid: (pid: number) => number;
}

/** What processes were started with. */
export interface ProcessOrigins {
  /** Returns the tag in the initial environment of a process; undefined for a foreign process. */
  readonly tagOf: (pid: number) => string | undefined;
  /** Returns the tag of a process, or without one its mark, where there are marks. Undefined for a foreign process. */
  readonly originOf: (process: Pick<ProcessEntry, 'pid' | 'startTicks' | 'parent' | 'session'>) => string | undefined;
  /**
   * Identifies a process across machines, containers, reboots and reused pids.
   * @returns undefined if there is no such process, or the platform does not show it to this user
   */
  readonly identityOf: (pid: number) => string | undefined;
}

/** What processes are about to do. */
export interface ProcessStates {
  /** Whether exactly this process still runs: not another one with the same pid, not a zombie. */
  readonly isAlive: (process: Pick<ProcessEntry, 'pid' | 'startTicks'>) => boolean;
  /** Whether a process has ended, or is just ending. */
  readonly isEnding: (process: Pick<ProcessEntry, 'pid'>) => boolean;
  /** Whether a process catches, ignores or blocks a signal. True where the platform cannot tell. */
  readonly handlesSignal: (pid: number, signal: number) => boolean;
  /** Whether a process was started a moment ago: it may still exec another program, or be about to start one and end. */
  readonly isYoung: (entry: ProcessEntry) => boolean;
  /** Whether a process was started a moment ago and has had next to no CPU time, though it could run. */
  readonly isWaitingForCpu: (entry: ProcessEntry) => boolean;
  /** Whether a process still has the command line of the shell that forked it, since it waits for a CPU or is stopped. */
  readonly isWaitingCopy: (child: ProcessEntry, shellPid: number) => boolean;
  /** Whether a shell has just forked this process, which is about to exec a program. False where that is not known. */
  readonly isBeforeExec: (child: ProcessEntry, shellPid: number) => boolean;
  /**
   * Whether a process may be a fork of a shell that has not exec'ed, however long ago it was started. False where that is not
   * known.
   */
  readonly isFork: (child: ProcessEntry, shellPid: number) => boolean;
  /** Returns the number of the signal that killed a zombie; 0 for none, and where that is not known. */
  readonly exitSignal: (pid: number) => number;
  /** Whether a number belongs to a thread other than the first of its process. */
  readonly isThread: (number: number) => boolean;
}

/** A program that waits for input of a terminal. */
export interface TerminalReader {
  readonly pid: number;
  /**
   * `only`: for nothing else. `also`: for other programs too. `hidden`: it has the terminal, and what it waits for is not shown to
   * this user.
   */
  readonly kind: 'only' | 'also' | 'hidden';
  /** Time-out of its wait, in milliseconds; Infinity for none. */
  readonly timeoutMs: number;
}

/** What processes have open, and wait for. */
interface ProcessFiles {
  /** Returns the target of a file descriptor; undefined when the process has no such descriptor, or that is not known. */
  readonly descriptorTarget: (pid: number, fd: number) => string | undefined;
  /** Returns the file from which a process is blocked in read(2); undefined when it is not, or that is not known. */
  readonly fileBeingRead: (pid: number) => string | undefined;
  /** Whether any descriptor of a process refers to this path; false where that is not known. */
  readonly holdsDescriptorOf: (pid: number, path: string) => boolean;
  /** Whether a process waits for a child or a signal, or was stopped while it did; true where that is not known. */
  readonly isWaiting: (pid: number) => boolean;
  /**
   * Finds the program that waits for input of a shell's terminal; undefined without one, and where that is not known.
   * @param path of the terminal
   * @param outside pids of programs that others than the shell may have started; asked for if one of those may be meant
   */
  readonly findTerminalReader: (
    shellPid: number,
    path: string,
    outside?: () => readonly number[],
  ) => TerminalReader | undefined;
  /** Whether standard input of a process is a terminal; true where that is not known. */
  readonly hasTerminalInput: (pid: number) => boolean;
  /** Maps a path as a process sees it to a path that the daemon can open; empty if nothing can be there. */
  readonly pathInside: (pid: number, path: string) => string;
}

/** What can be changed of processes. */
interface ProcessChanges {
  /**
   * Writes a text over one argument of a process that has not read it.
   * @param args all its arguments, the name of the program first
   * @returns false if that is not possible, or the process has other arguments
   */
  readonly replaceArgument: (pid: number, args: readonly string[], index: number, text: string) => boolean;
}

/** What processes use. */
interface ProcessUsage {
  /** Returns what a process has written; zeros when not available. */
  readonly writesOf: (pid: number) => Writes;
  /** Returns the resident shared memory of a process, in bytes; 0 when not available. */
  readonly sharedBytes: (pid: number) => number;
  /** Returns the memory of a process, in bytes; shared memory counts proportionally. Undefined when not available. */
  readonly proportionalBytes: (pid: number) => number | undefined;
}

/** All that the engine asks about processes. The functions need no `this`. */
export interface Processes
  extends ProcessTable, ProcessOrigins, ProcessStates, ProcessFiles, ProcessChanges, ProcessUsage, ProcessClock {}
