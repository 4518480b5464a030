import type { PlatformName } from '../../core/platform.js';

/** How directories are held open, so that paths lead through them. */
export interface Directories {
  /** Flags of open(2) for a directory that is only passed: where that exists, no permission to list it is needed. */
  readonly passFlags: number;
  /**
   * Returns the beginning of paths to the entries of an open directory. With `heldPaths`, they lead there whatever is
   * moved or linked to its path meanwhile.
   * @param path where the descriptor was opened, without links
   */
  readonly rootOf: (fd: number, path: string) => string;
  /** Returns the path of an open directory after all links; undefined when it is not at `path` any more, or is gone. */
  readonly placeOf: (fd: number, path: string) => Promise<string | undefined>;
}

/** A port on which a process listens. */
export interface ListeningPort {
  readonly port: number;
  readonly address: string;
  readonly pid: number;
}

/** On which ports processes listen for TCP connections. */
export interface Listening {
  /** Time between two looks of something that waits for a port, in milliseconds. */
  readonly lookMs: number;
  /** Names the network of a process; undefined when the process has ended, or may not be looked at. */
  readonly networkOf: (pid: number) => string | undefined;
  /**
   * Finds the ports of some processes. Forked processes share a socket: one of them counts.
   * @throws AdapterError PORT_UNAVAILABLE where a program that is needed is not installed
   */
  readonly portsOf: (pids: readonly number[]) => Promise<readonly ListeningPort[]>;
  /**
   * Whether anything in the network of a process listens on a port.
   * @throws as `portsOf`
   */
  readonly isTaken: (port: number, pid: number) => Promise<boolean>;
}

/** CPU time of all CPUs since some moment, in one unit; both only grow. */
export interface CpuTime {
  readonly busy: number;
  /** What could have been used. */
  readonly total: number;
}

/** Bytes that all network interfaces but the loopback have transferred. */
export interface NetBytes {
  readonly received: number;
  readonly sent: number;
}

/** Memory of the machine, in bytes. */
export interface MemoryBytes {
  readonly total: number;
  /** Without what the kernel can free. */
  readonly used: number;
}

/** What the machine has done and uses at one moment. Of a container with limits, CPU and memory are its own. */
export interface MachineReading {
  readonly cpu: CpuTime | undefined;
  /** CPUs that may be used at a time; may be a fraction. */
  readonly cpus: number;
  readonly load1: number;
  readonly memory: MemoryBytes;
  readonly net: NetBytes;
}

/** Reads what the machine has done and uses. */
export interface Machine {
  /** Takes a reading at once; what takes longer is of the last `refresh`. */
  read(): MachineReading;
  /** Reads what takes longer. */
  refresh(): Promise<void>;
}

/** The two ends of a TCP connection, as the daemon has them. */
export interface TcpEnds {
  readonly localAddress: string;
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
}

/** The socket at the other end. */
export interface PeerSocket {
  /** Uid of its owner. */
  readonly owner: number;
  /** Inode number, which identifies descriptors of the socket; undefined where the platform has none. */
  readonly inode: number | undefined;
}

/** The sockets of programs of this machine that have connected to the daemon. */
export interface PeerLook {
  /** Most looks for one connection: a look may miss one when others come and go. */
  readonly maxLooks: number;
  /** Finds the peers' sockets of established connections over the loopback; undefined where that is not known. */
  readonly findAll: (asked: readonly TcpEnds[]) => Promise<readonly (PeerSocket | undefined)[]>;
}

/** Name of the environment variable that identifies processes of the adapter: `instance.session.command`. */
export const TAG_VARIABLE = 'SHELL_ADAPTER_TAG';

/** Clock ticks per second of start times and CPU times: USER_HZ, which is 100 on every Linux in use. */
export const TICKS_PER_SECOND = 100;
export const MS_PER_TICK = 1000 / TICKS_PER_SECOND;

/** Page size in bytes: 4 KiB on every machine that Node.js runs on, except for some of arm64. */
export const PAGE_BYTES = 4096;

/** Longest command line that is reported, in characters. */
const MAX_COMMAND_LINE = 200;

/** One process: `startTicks` distinguishes it from a later one with the same pid. */
export interface ProcessId {
  readonly pid: number;
  /** Start time, in clock ticks on the platform's clock: see `ProcessClock`. */
  readonly startTicks: number;
}

/** A process with those to which it belongs. */
export interface RelatedProcess extends ProcessId {
  readonly parent: number;
  /** Pid of the session leader; 0 where the platform cannot tell. */
  readonly session: number;
}

/** A process at one moment. */
export interface ProcessEntry extends RelatedProcess {
  readonly name: string;
  /** R, S, D, Z (zombie), T (stopped), … */
  readonly state: string;
  readonly group: number;
  /** Foreground process group of its terminal, -1 without one. */
  readonly foregroundGroup: number;
  /** CPU time in clock ticks: its own, and where the platform counts it, that of children it has waited for. */
  readonly cpuTicks: number;
  readonly threads: number;
  /** Resident memory, in pages, including shared pages. */
  readonly residentPages: number;
}

/** Bytes that a process, and the children it has waited for, have written. */
export interface Writes {
  /** To disks, as far as the process has caused it. */
  readonly diskBytes: number;
  /** To anything: disks, memory, pipes, terminals. */
  readonly allBytes: number;
}

/** Whether a process has not ended. */
export const isRunning = ({ state }: Pick<ProcessEntry, 'state'>): boolean => state !== 'Z' && state !== 'X';

/** Truncates a command line to the displayed length. */
export const shownCommandLine = (line: string): string => line.slice(0, MAX_COMMAND_LINE);

/** A point in time that separates processes started later from older ones. */
export interface StartMarker {
  /** On the monotonic clock, in milliseconds. */
  readonly at: number;
  /** Pid of the newest process; undefined where the platform does not report it. */
  readonly newestPid: number | undefined;
  /** Start times, by pid, of processes that are known to be older; for platforms whose start times are coarse. */
  readonly older?: ReadonlyMap<number, number> | undefined;
}

/** Pids that were assigned since some moment. */
export interface GivenPids {
  /** Number of pids; Infinity when unknown. */
  readonly count: number;
  /** The newest; undefined where the platform does not report it. */
  readonly newest: number | undefined;
  readonly includes: (pid: number) => boolean;
  /** Returns all of them, in the order of their assignment. */
  readonly list: () => number[];
}

/** Detects whether any process of the machine was started since the last check. */
export interface NewProcesses {
  /** True for the first check, and where the platform does not report it. */
  readonly hasAny: boolean;
}

/** When processes were started. */
export interface ProcessClock {
  /** The current time on the clock of `startTicks`. */
  readonly ticksNow: () => number;
  /** Returns a marker for this moment. */
  readonly markStart: () => StartMarker;
  /** The same, but processes of the last millisecond may count as started later: cheaper. */
  readonly markRecentStart: () => StartMarker;
  /**
   * Returns a predicate for processes that were started after the marker. Must be called before processes are listed,
   * which takes time: the first of them would seem older than the marker.
   */
  readonly startedSince: (marker: StartMarker) => (entry: ProcessEntry) => boolean;
  /** Returns the pids that were assigned since a start marker, including those of threads. */
  readonly pidsGivenSince: (marker: StartMarker) => GivenPids;
  readonly watchForNew: () => NewProcesses;
}

/**
 * Which list of processes serves a question: only one that begins after it (`new`), also one that is just being made
 * (`begun`), or each that was begun after a moment: on the monotonic clock, in milliseconds.
 */
export type ListAge = 'new' | 'begun' | number;

/** Processes of sessions whose use is measured with a list: those that an earlier list has shown, or new ones too, which takes longer. */
export type MeasuredProcesses = 'known' | 'all';

/** The processes of the machine as they are listed. */
export interface ProcessTable {
  /**
   * Asks questions about processes. Where a program lists them, it is run first, without blocking: what `ask` asks before it returns is
   * answered from that list, except by `readNow`. If the program fails, each question tries again. Elsewhere no question takes long: the
   * answer is returned at once, and no promise of it.
   * @param age of the list, by default 'new'
   * @param measured whose CPU time and memory have to be as new as the list; of others they are of their last measurement, and 0 before it
   */
  readonly ask: <T>(ask: () => T, age?: ListAge, measured?: MeasuredProcesses) => T | Promise<T>;
  /** CPU time of the programs that list and measure processes, in milliseconds; 0 without them. */
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
  /** Makes all lists from now on tell which program a process runs. Must be called before `programOf`. */
  readonly followProgram: (pid: number) => void;
  /** Returns a text that another program in the place of this one would not have; undefined without such a process. */
  readonly programOf: (pid: number) => string | undefined;
  /** Describes the activity of a process for a message: its state, and the kernel function in which it waits. */
  readonly whereabouts: (pid: number) => { readonly state: string; readonly waitsIn: string };
  /** Returns the pid of a process in its sandbox, or its own pid without one. */
  readonly innermostPid: (pid: number) => number;
}

/** Whether a list of processes takes a run of a program: one that serves nothing else is not worth it. */
export const isListedByProgram = ({ listMs }: ProcessTable): boolean => listMs() > 0;

/** What processes were started with. */
export interface ProcessOrigins {
  /** Returns the tag in the initial environment of a process; undefined for a foreign process. */
  readonly tagOf: (pid: number) => string | undefined;
  /** Returns the tag of a process, or without one its mark, where there are marks. Undefined for a foreign process. */
  readonly originOf: (process: RelatedProcess) => string | undefined;
  /**
   * Identifies a process across machines, containers, reboots and reused pids.
   * @returns undefined if there is no such process, or the platform does not show it to this user
   */
  readonly identityOf: (pid: number) => string | undefined;
}

/** What processes are about to do. */
export interface ProcessStates {
  /** Whether exactly this process still runs: not another one with the same pid, not a zombie. */
  readonly isAlive: (process: ProcessId) => boolean;
  /** Whether a process has ended, or is just ending. */
  readonly isEnding: (process: { readonly pid: number }) => boolean;
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
   * Whether a process may be about to exec a program, as a fork of a shell is, however long ago it was started. False where that
   * is not known.
   */
  readonly mayExec: (child: ProcessEntry, shellPid: number) => boolean;
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

/** The pipes without a name that a process has open. */
export interface OpenPipes {
  /** Its standard input, if that is the read end of one. */
  readonly input: string | undefined;
  /** Those that it can write to. */
  readonly written: readonly string[];
}

/** What processes have open, and wait for. */
interface ProcessFiles {
  /** Returns the pipes of a process; none where they are not known. */
  readonly pipesOf: (pid: number) => OpenPipes;
  /** Returns the target of a file descriptor; undefined when the process has no such descriptor, or that is not known. */
  readonly descriptorTarget: (pid: number, fd: number) => string | undefined;
  /** Returns the file from which a process is blocked in read(2); undefined when it is not, or that is not known. */
  readonly fileBeingRead: (pid: number) => string | undefined;
  /** Whether any descriptor of a process refers to this path; false where that is not known. */
  readonly holdsDescriptorOf: (pid: number, path: string) => boolean;
  /** Whether a process runs, uses a pipe, or waits for a child; false where that is not known. */
  readonly isAtWork: (pid: number) => boolean;
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

/** Abilities that not every platform has. */
export interface Capabilities {
  /** Control groups, which bound memory and processes. */
  readonly controlGroups: boolean;
  /** Bubblewrap, and namespaces. */
  readonly sandbox: boolean;
  /** Processes of other users. */
  readonly otherUsers: boolean;
  /** Paths below a directory that is held open: a directory that is replaced meanwhile is not followed. */
  readonly heldPaths: boolean;
  /** Which files another process has open, and whether it waits for input. */
  readonly openFiles: boolean;
  /** How many bytes a process has written. */
  readonly countWrites: boolean;
  /** A mark of the session that a process cannot lose by clearing its environment. */
  readonly marks: boolean;
}

/** The operating system as the engine sees it. Chosen once, at the start. */
export interface Platform {
  readonly name: PlatformName;
  readonly can: Capabilities;
  readonly processes: Processes;
  readonly directories: Directories;
  readonly listening: Listening;
  readonly peers: PeerLook;
  readonly openMachine: () => Machine;
  /** Number of this process's PID namespace; 0 where there is none. */
  readonly pidNamespace: () => number;
  /** Makes the kernel prefer this process and its descendants to the daemon when it is out of memory, if it can. */
  readonly makeFirstVictim: (pid: number) => void;
}
