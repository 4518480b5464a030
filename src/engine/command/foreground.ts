import { statSync } from 'node:fs';
import { constants } from 'node:os';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

import type { SignalName } from '../../core/signals.js';
import { ENDING_SIGNALS } from './command.js';
import {
  argumentsOf,
  exitSignal,
  handlesSignal,
  isAlive,
  isBeforeExec,
  listChildren,
  listProcesses,
  type ProcessEntry,
  readProcess,
} from '../process/process-table.js';
import type { ProcessRoot } from '../process/process-root.js';
import { type ReportedProcess, reportProcesses, sendSignal } from '../process/process-tree.js';

/** Longest wait for the shell to stop, and for a signalled program to end: on a busy machine they must get their turn. */
const STEP_MS = 250;
/** Pause between attempts; not the period of a loop that starts one short program after another. */
const PAUSE_MS = 3;
/** Long enough for dozens of programs in a row to end by themselves just then, on a busy machine. */
const ATTEMPTS_MS = 3000;

/** A signal for what a shell has in the foreground of its terminal. */
export interface ForegroundSignal {
  readonly root: ProcessRoot;
  readonly signal: SignalName;
  /** Whether the shell is still what it was started as, not a program that has replaced it. */
  readonly hasDriver: boolean;
  /** Asked before the shell itself is interrupted; false when that has just been done. */
  readonly mayInterruptShell: () => boolean;
  /** Told which signal was sent, before it has any effect. */
  readonly onSend: (signal: SignalName) => void;
  /** Whether the command has ended: what has the foreground then is the next one's. */
  readonly isOver: () => boolean;
}

/** A program that has the terminal. */
export interface ForegroundProgram {
  /** As the kernel knows it: at most 15 characters of its file's name. */
  readonly name: string;
  /** Its arguments, its own name first; empty when they are not told. */
  readonly args: readonly string[];
  /** Its standard input is a terminal. Also true when that cannot be seen. */
  readonly readsTerminal: boolean;
}

/** The programs that may read what is typed. */
export interface TerminalReaders {
  /** Those in the foreground. */
  readonly foreground: readonly ForegroundProgram[];
  /** Those that have started them, and read the terminal after them. */
  readonly behind: readonly ForegroundProgram[];
}

const NO_READERS: TerminalReaders = { foreground: [], behind: [] };

/**
 * The programs that may read what is typed on a shell's terminal.
 * @param hasDriver whether the shell is still what it was started as: then it is none of them
 */
export function terminalReaders(shellPid: number, hasDriver: boolean): TerminalReaders {
  const shell = readProcess(shellPid);
  if (!shell || shell.foregroundGroup <= 0 || (shell.foregroundGroup === shell.group && hasDriver)) return NO_READERS;
  const all = new Map(listProcesses().map((entry) => [entry.pid, entry]));
  const foreground = [...all.values()].filter(({ group }) => group === shell.foregroundGroup);
  const behind = new Map<number, ProcessEntry>();
  for (const member of foreground) {
    let parent = all.get(member.parent);
    while (parent && parent.pid !== shellPid && parent.session === shell.session && !behind.has(parent.pid)) {
      if (parent.group !== shell.foregroundGroup) behind.set(parent.pid, parent);
      parent = all.get(parent.parent);
    }
  }
  return { foreground: foreground.map(describe), behind: [...behind.values()].map(describe) };
}

const describe = ({ pid, name }: ProcessEntry): ForegroundProgram => ({
  name,
  args: argumentsOf(pid),
  readsTerminal: readsTerminal(pid),
});

/** Major number of memory devices such as /dev/null (linux/major.h). */
const MEMORY_DEVICES = 1;

function readsTerminal(pid: number): boolean {
  try {
    const input = statSync(`/proc/${pid}/fd/0`);
    return input.isCharacterDevice() && ((input.rdev >> 8) & 0xfff) !== MEMORY_DEVICES;
  } catch (error) {
    // ENOENT: it has closed its standard input, or has ended. EACCES: it belongs to another user.
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

/** Who got a signal, and whether it had any effect: a program may have ended by itself at that moment. */
interface Attempt {
  readonly wasHeard: boolean;
  readonly processes: ReportedProcess[];
}

const NOBODY: Attempt = { wasHeard: true, processes: [] };
const UNHEARD: Attempt = { wasHeard: false, processes: [] };

/**
 * Signals the foreground process group of a shell's terminal. Where that is the shell itself, which runs a loop or a
 * builtin, an ending signal becomes an interrupt (interactive shells ignore SIGTERM, and die of others), and any other
 * signal is not sent. A program that has replaced the shell gets what was sent.
 *
 * A signal that meets a program between fork(2) and exec(2), or one that is just ending, is lost, and a loop of short
 * programs goes on as if nothing had been. So the shell is stopped for a moment while its programs are looked at, and the
 * signal is repeated until it was heard: by the shell, by a program that handles or ignores it, or by one that died of it.
 * @returns the processes that got it, in the last attempt; none when nobody can
 */
export async function signalForeground(request: ForegroundSignal): Promise<ReportedProcess[]> {
  if (!request.hasDriver) return signalReplacement(request);
  const deadline = performance.now() + ATTEMPTS_MS;
  for (;;) {
    const { wasHeard, processes } = await attempt(request);
    if (wasHeard || request.isOver() || performance.now() > deadline) return processes;
    await sleep(PAUSE_MS);
    if (request.isOver()) return processes;
  }
}

function signalReplacement({ root, signal, onSend }: ForegroundSignal): ReportedProcess[] {
  const shell = readProcess(root.main);
  if (!shell || shell.foregroundGroup <= 0) return [];
  onSend(signal);
  const leader = readProcess(shell.foregroundGroup) ?? shell;
  return sendSignal(-shell.foregroundGroup, signal) ? reportProcesses([leader], root) : [];
}

async function attempt(request: ForegroundSignal): Promise<Attempt> {
  const shellPid = request.root.main;
  const wasStopped = readProcess(shellPid)?.state === 'T';
  if (!sendSignal(shellPid, 'SIGSTOP')) return NOBODY;
  try {
    const hasStopped = await until(() => readProcess(shellPid)?.state === 'T');
    await whenReportsAreRead();
    const shell = readProcess(shellPid);
    if (!shell || shell.foregroundGroup <= 0 || request.isOver()) return NOBODY;
    // One that is about to be started may need the shell for it, as the first of a job in bash does: no waiting here.
    if (!hasStopped || listChildren(shellPid).some((child) => isBeforeExec(child, shellPid))) return UNHEARD;
    return shell.foregroundGroup === shell.group ? signalShell(shell, request) : await signalProgram(shell, request);
  } finally {
    if (!wasStopped) sendSignal(shellPid, 'SIGCONT');
  }
}

/**
 * Resolves when the daemon has taken what a shell that is stopped now had to say before: it may have ended the command,
 * and a driver that waits for the next one must not be interrupted. Events that were there are taken in the second turn.
 */
async function whenReportsAreRead(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

function signalShell(shell: ProcessEntry, { root, signal, mayInterruptShell, onSend }: ForegroundSignal): Attempt {
  if (!ENDING_SIGNALS.has(signal)) return NOBODY;
  if (mayInterruptShell()) {
    onSend('SIGINT');
    sendSignal(-shell.group, 'SIGINT');
  }
  return { wasHeard: true, processes: reportProcesses([shell], root) };
}

/** The shell is stopped: its children stay in the table when they end, with what they ended of. */
async function signalProgram(shell: ProcessEntry, { root, signal, onSend }: ForegroundSignal): Promise<Attempt> {
  const { pid, foregroundGroup } = shell;
  const members = listChildren(pid).filter((child) => child.group === foregroundGroup && isAlive(child));
  const processes = reportProcesses(members, root);
  if (members.length === 0) return UNHEARD;
  const number = constants.signals[signal];
  const isTheirAffair = !ENDING_SIGNALS.has(signal) || members.some((member) => handlesSignal(member.pid, number));
  onSend(signal);
  if (!sendSignal(-foregroundGroup, signal)) return { wasHeard: false, processes };
  if (isTheirAffair) return { wasHeard: true, processes };
  await until(() => !members.some(isAlive));
  return { wasHeard: members.some((member) => isAlive(member) || exitSignal(member.pid) === number), processes };
}

/** Waits for something, within bounds; gives whether it has come about. */
async function until(isSo: () => boolean): Promise<boolean> {
  const deadline = performance.now() + STEP_MS;
  while (!isSo()) {
    if (performance.now() > deadline) return false;
    await sleep(1);
  }
  return true;
}
