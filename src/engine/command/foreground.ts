import { constants } from 'node:os';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

import type { SignalName } from '../../core/signals.js';
import type { ProcessEntry, Processes } from '../platform/platform.js';
import { sendSignal } from '../system/signals.js';
import type { ProcessRoot } from '../process/find-processes.js';
import { type ReportedProcess, reportProcesses } from '../process/background-processes.js';
import type { Turns } from '../system/promises.js';
import { ENDING_SIGNALS } from './command.js';

/**
 * Longest wait for the shell to stop, and for a signalled program to end, in milliseconds: a loaded machine delays
 * both.
 */
const STEP_MS = 250;
/**
 * Longest pause between attempts, in milliseconds. Each is of another length: equal ones could meet a loop of short
 * programs at the same point again and again.
 */
const PAUSE_MS = 6;
/**
 * Total time for attempts, in milliseconds: hundreds of short programs in a row may end just before their signal on a
 * loaded machine. In three seconds one interrupt in some dozens had no effect there.
 */
const ATTEMPTS_MS = 12_000;
/**
 * Attempts after which programs are stopped too: on a loaded machine, those of a loop end before they can be looked at.
 * Not before, since programs may notice it.
 */
const GENTLE_ATTEMPTS = 10;
/** How long such an attempt waits for the shell without letting anything else run, in milliseconds. */
const SPIN_MS = 2;

/** Attempts that wait for the rest of a pipeline: a shell needs some milliseconds for it. */
const PIPELINE_ATTEMPTS = 4;

/** A shell, with the processes of the machine. */
interface SignalledShell {
  readonly pid: number;
  readonly root: ProcessRoot;
  readonly processes: Processes;
  /** Whether the shell's program is still the one that was started, not one that has replaced it with `exec`. */
  readonly hasDriver: boolean;
  /** Whether the command has not started, or the shell has left it and is about to report: see `ShellProcess`. */
  readonly holdsRequests: boolean;
  /** Whether the shell may be about to start the rest of a pipeline, which a signal would miss. */
  readonly mayStartMore: boolean;
  /** Of those who stop it for a moment: one would have it go on while another looks at it. */
  readonly stops: Turns;
}

/** Request to signal the foreground of a shell's terminal. */
interface ForegroundSignal {
  readonly shell: SignalledShell;
  readonly signal: SignalName;
  /** Called before the shell itself is interrupted; returns false when it has just been interrupted. */
  readonly mayInterruptShell: () => boolean;
  /** Called with the signal before it takes effect. */
  readonly onSend: (signal: SignalName) => void;
  /** Whether the command has ended: the foreground then belongs to the next command. */
  readonly isOver: () => boolean;
}

/**
 * One attempt: the processes that received the signal, and whether it took effect; a program may have ended on its own
 * at that moment.
 */
interface Attempt {
  readonly tookEffect: boolean;
  readonly processes: ReportedProcess[];
  /** Those among them that may yet exec: what handles the signal may forget it then, and the program would not have received it. */
  readonly starters?: readonly Starter[];
}

/** A process that has begun a moment ago, with its command line of then. */
interface Starter {
  readonly entry: ProcessEntry;
  readonly line: string;
}

const NO_RECIPIENT: Attempt = { tookEffect: true, processes: [] };
const NO_EFFECT: Attempt = { tookEffect: false, processes: [] };

/**
 * Signals the foreground process group of a shell's terminal. Where that is the shell itself, which runs a loop or a
 * builtin, an ending signal becomes an interrupt (interactive shells ignore SIGTERM, and die of others), and any other
 * signal is not sent. A program that has replaced the shell receives the signal unchanged.
 * A signal that hits a program between fork(2) and exec(2), or one that is just ending, is lost, and a loop of short
 * programs continues unaffected. Therefore the shell is stopped briefly while its programs are inspected, and the
 * signal is repeated until it takes effect: on the shell, on a program that handles or ignores it, or on one that it
 * has killed. After some attempts the program is stopped as well. What execs after the signal may have lost it in a handler: a
 * fork of the shell that was taken for a subshell, or one of dash as the program. It gets the signal again.
 * @returns the processes that received the signal in the last attempt; empty when there are none
 */
export async function signalForeground(request: ForegroundSignal): Promise<ReportedProcess[]> {
  if (!request.shell.hasDriver) return signalReplacement(request);
  const deadline = performance.now() + ATTEMPTS_MS;
  for (let tries = 0; ; tries += 1) {
    const { tookEffect, processes, starters = [] } = await request.shell.stops.take(() => attempt(request, tries));
    const hasReceived = tookEffect && !(await hasExeced(starters, request, deadline));
    if (hasReceived || request.isOver() || performance.now() > deadline) return processes;
    await sleep(Math.random() * PAUSE_MS);
    if (request.isOver()) return processes;
  }
}

/**
 * Waits until it shows whether one of these processes execs a program, and returns that. Before it does, the signal must not be
 * sent again: a subshell would run its trap twice. One that waits for a CPU may take as long as the machine has it wait.
 * @param deadline on the monotonic clock, in milliseconds
 */
async function hasExeced(
  starters: readonly Starter[],
  { shell, isOver }: ForegroundSignal,
  deadline: number,
): Promise<boolean> {
  const { commandLine, isAlive, isEnding, mayExec, readNow } = shell.processes;
  const hasOther = ({ entry, line }: Starter) => isAlive(entry) && !isEnding(entry) && commandLine(entry) !== line;
  // During execve(2) a process looks like one that is ending.
  const isUndecided = ({ entry }: Starter) => {
    const now = readNow(entry.pid);
    return now !== undefined && isAlive(entry) && (isEnding(entry) || mayExec(now, shell.root.main));
  };
  await until(() => isOver() || starters.some(hasOther) || !starters.some(isUndecided), deadline - performance.now());
  return !isOver() && starters.some(hasOther);
}

function signalReplacement({ shell: { root, processes }, signal, onSend }: ForegroundSignal): ReportedProcess[] {
  const shell = processes.read(root.main);
  if (!shell || shell.foregroundGroup <= 0) return [];
  onSend(signal);
  const leader = processes.read(shell.foregroundGroup) ?? shell;
  return sendSignal(-shell.foregroundGroup, signal) ? reportProcesses([leader], processes, root) : [];
}

async function attempt(request: ForegroundSignal, tries: number): Promise<Attempt> {
  if (mustWait(request)) return NO_EFFECT;
  const { readNow } = request.shell.processes;
  const shellPid = request.shell.root.main;
  const wasStopped = readNow(shellPid)?.state === 'T';
  if (!sendSignal(shellPid, 'SIGSTOP')) return NO_RECIPIENT;
  const resumeProgram = tries >= GENTLE_ATTEMPTS ? stopProgram(shellPid, readNow) : NOT_STOPPED;
  try {
    const hasStopped = await until(() => readNow(shellPid)?.state === 'T');
    await whenReportsAreRead();
    const shell = readNow(shellPid);
    if (!shell || shell.foregroundGroup <= 0 || request.isOver()) return NO_RECIPIENT;
    return hasStopped ? await signalStopped(shell, request, resumeProgram, tries) : NO_EFFECT;
  } finally {
    // Before the shell, which would take a stopped program for a suspended job.
    resumeProgram();
    if (!wasStopped) sendSignal(shellPid, 'SIGCONT');
  }
}

/**
 * Whether the rest of a pipeline may come after the signal. It is not waited for in later attempts: a shell that runs the
 * last part of a pipeline itself may be anywhere.
 */
const mayMissSome = ({ group, foregroundGroup }: ProcessEntry, { shell }: ForegroundSignal, tries: number): boolean =>
  tries < PIPELINE_ATTEMPTS && foregroundGroup !== group && shell.mayStartMore;

/** Signals the foreground of a shell that has stopped. */
async function signalStopped(
  shell: ProcessEntry,
  request: ForegroundSignal,
  resumeProgram: () => void,
  tries: number,
): Promise<Attempt> {
  const { childrenOf, isBeforeExec, isWaitingCopy } = request.shell.processes;
  // A program that is about to be started may need the shell for it, as the first one of a job in bash does: no
  // waiting here.
  const isStarting = (child: ProcessEntry) => isBeforeExec(child, shell.pid) || isWaitingCopy(child, shell.pid);
  if (mayMissSome(shell, request, tries) || childrenOf(shell.pid).some(isStarting)) return NO_EFFECT;
  return shell.foregroundGroup === shell.group
    ? signalShell(shell, request)
    : await signalProgram(shell, request, resumeProgram);
}

const NOT_STOPPED = (): void => undefined;

/**
 * Stops the program in the foreground of a shell that stops, unless that is the shell itself; the returned function has it
 * go on. Not before the shell has stopped: it would see the program stop, and take it for a suspended job.
 */
function stopProgram(shellPid: number, readNow: Processes['readNow']): () => void {
  const deadline = performance.now() + SPIN_MS;
  let shell = readNow(shellPid);
  while (shell && shell.state !== 'T' && performance.now() < deadline) shell = readNow(shellPid);
  if (shell?.state !== 'T' || shell.foregroundGroup <= 0 || shell.foregroundGroup === shell.group) return NOT_STOPPED;
  const { foregroundGroup } = shell;
  let isStopped = sendSignal(-foregroundGroup, 'SIGSTOP');
  return () => {
    if (isStopped) sendSignal(-foregroundGroup, 'SIGCONT');
    isStopped = false;
  };
}

/**
 * Resolves when the daemon has read all reports of a shell that is now stopped: one of them may have ended the command,
 * and a driver that waits for the next request must not be interrupted. Pending events are delivered in the second turn
 * of the event loop.
 */
async function whenReportsAreRead(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

/**
 * Whether the driver is at work, not the command: an interrupt would not reach a command that has not started, and would
 * cut short the report on one that has ended. SIGKILL does not wait for it.
 */
const mustWait = ({ shell, signal }: ForegroundSignal): boolean => signal !== 'SIGKILL' && shell.holdsRequests;

function signalShell(shell: ProcessEntry, request: ForegroundSignal): Attempt {
  if (mustWait(request)) return NO_EFFECT;
  const { signal, mayInterruptShell, onSend } = request;
  const { root, processes } = request.shell;
  if (!ENDING_SIGNALS.has(signal)) return NO_RECIPIENT;
  if (mayInterruptShell()) {
    onSend('SIGINT');
    sendSignal(-shell.group, 'SIGINT');
  }
  return { tookEffect: true, processes: reportProcesses([shell], processes, root) };
}

/** The processes of a group that may be about to exec a program, forks of the shell's programs among them. */
function startersIn({ shell: { processes, root }, signal }: ForegroundSignal, group: number): readonly Starter[] {
  if (!ENDING_SIGNALS.has(signal)) return [];
  return processes
    .list()
    .filter((entry) => entry.group === group && processes.mayExec(entry, root.main))
    .map((entry) => ({ entry, line: processes.commandLine(entry) }));
}

/** While the shell is stopped, its ended children stay in the process table with their exit status. */
async function signalProgram(
  shell: ProcessEntry,
  request: ForegroundSignal,
  resumeProgram: () => void,
): Promise<Attempt> {
  const { signal, onSend } = request;
  const { root, processes: machine } = request.shell;
  const { isAlive } = machine;
  const { pid, foregroundGroup } = shell;
  const members = machine.childrenOf(pid).filter((child) => child.group === foregroundGroup && isAlive(child));
  const processes = reportProcesses(members, machine, root);
  if (members.length === 0) return NO_EFFECT;
  const number = constants.signals[signal];
  const isHandled = !ENDING_SIGNALS.has(signal) || members.some((member) => machine.handlesSignal(member.pid, number));
  const before = startersIn(request, foregroundGroup);
  onSend(signal);
  if (!sendSignal(-foregroundGroup, signal)) return { tookEffect: false, processes };
  // Some may have been forked in between.
  const starters = [...before, ...startersIn(request, foregroundGroup)];
  resumeProgram();
  if (isHandled) return { tookEffect: true, processes, starters };
  await until(() => !members.some(isAlive));
  return {
    tookEffect: members.some((member) => isAlive(member) || machine.exitSignal(member.pid) === number),
    processes,
    starters,
  };
}

/** Polls a condition until a deadline; returns whether it became true. */
async function until(isSo: () => boolean, ms = STEP_MS): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (!isSo()) {
    if (performance.now() > deadline) return false;
    await sleep(1);
  }
  return true;
}

/** A program in the foreground of a terminal, or behind it. */
export interface ForegroundProgram {
  /** The kernel's name of the process: at most 15 characters of the file name. */
  readonly name: string;
  /** Arguments, starting with the program's own name; empty when they are not readable. */
  readonly args: readonly string[];
  /** Whether standard input is a terminal. Also true when that cannot be determined. */
  readonly readsTerminal: boolean;
}

/** Programs that may read terminal input. */
export interface TerminalReaders {
  /** Programs in the foreground. */
  readonly foreground: readonly ForegroundProgram[];
  /** Ancestors of the foreground programs, which read the terminal after them. */
  readonly behind: readonly ForegroundProgram[];
}

const NO_READERS: TerminalReaders = { foreground: [], behind: [] };

/** A shell whose terminal programs may read. */
interface ReadingShell {
  readonly pid: number;
  readonly processes: Processes;
  /** Whether its program is still the one that was started. */
  readonly hasDriver: boolean;
}

/** Returns the programs that may read input of a shell's terminal: not the shell itself while its driver runs. */
export function terminalReaders({ pid, processes, hasDriver }: ReadingShell): TerminalReaders {
  const shell = processes.read(pid);
  if (!shell || shell.foregroundGroup <= 0) return NO_READERS;
  if (shell.foregroundGroup === shell.group && hasDriver) return NO_READERS;
  const all = new Map(processes.list().map((entry) => [entry.pid, entry]));
  const foreground = [...all.values()].filter(({ group }) => group === shell.foregroundGroup);
  const behind = findBehind(foreground, shell, all);
  const describe = (entry: ProcessEntry) => describeProgram(entry, processes);
  return { foreground: foreground.map(describe), behind: behind.map(describe) };
}

/** Returns the ancestors of foreground programs, up to the shell, that are not in the foreground themselves. */
function findBehind(
  foreground: readonly ProcessEntry[],
  shell: ProcessEntry,
  all: ReadonlyMap<number, ProcessEntry>,
): ProcessEntry[] {
  const isBelowShell = ({ pid, session }: ProcessEntry) => pid !== shell.pid && session === shell.session;
  const behind = new Map<number, ProcessEntry>();
  for (const member of foreground) {
    let parent = all.get(member.parent);
    while (parent && isBelowShell(parent) && !behind.has(parent.pid)) {
      if (parent.group !== shell.foregroundGroup) behind.set(parent.pid, parent);
      parent = all.get(parent.parent);
    }
  }
  return [...behind.values()];
}

const describeProgram = ({ pid, name }: ProcessEntry, processes: Processes): ForegroundProgram => ({
  name,
  args: processes.argumentsOf(pid),
  readsTerminal: processes.hasTerminalInput(pid),
});
