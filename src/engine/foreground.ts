import type { SignalName } from '../core/protocol/fields.js';
import { ENDING_SIGNALS } from './command.js';
import { argumentsOf, listProcesses, readProcess } from './process-table.js';
import { type ReportedProcess, reportProcesses, sendSignal } from './process-tree.js';

/** Interrupts what a terminal's shell has in the foreground, as Ctrl-C does, whatever the terminal's modes. */
export function interruptForeground(shellPid: number): void {
  const shell = readProcess(shellPid);
  if (shell && shell.foregroundGroup > 0) sendSignal(-shell.foregroundGroup, 'SIGINT');
}

/** Whether a program of the shell, not the shell itself, has its terminal. */
export function hasProgramInForeground(shellPid: number): boolean {
  const shell = readProcess(shellPid);
  return shell !== undefined && shell.foregroundGroup > 0 && shell.foregroundGroup !== shell.group;
}

/** A program that has the terminal. */
export interface ForegroundProgram {
  /** As the kernel knows it: at most 15 characters of its file's name. */
  readonly name: string;
  /** Its arguments, its own name first; empty when they are not told. */
  readonly args: readonly string[];
}

/**
 * The programs in the foreground of a shell's terminal.
 * @param hasDriver whether the shell is still what it was started as: then it is none of them
 */
export function programsInForeground(shellPid: number, hasDriver: boolean): readonly ForegroundProgram[] {
  const shell = readProcess(shellPid);
  if (!shell || shell.foregroundGroup <= 0 || (shell.foregroundGroup === shell.group && hasDriver)) return [];
  return listProcesses()
    .filter(({ group }) => group === shell.foregroundGroup)
    .map(({ pid, name }) => ({ name, args: argumentsOf(pid) }));
}

/** What came of a signal: which one was sent, and to whom. */
export interface SentSignal {
  readonly sent: SignalName | undefined;
  readonly processes: ReportedProcess[];
}

const NOTHING: SentSignal = { sent: undefined, processes: [] };

/**
 * Signals the foreground process group of a shell's terminal. Where that is the shell itself, which runs a loop or a
 * builtin, an ending signal becomes an interrupt (interactive shells ignore SIGTERM, and die of others), and any other
 * signal is not sent. A program that has replaced the shell gets what was sent.
 * @param hasDriver whether the shell is still what it was started as
 */
export function signalForeground(shellPid: number, signal: SignalName, hasDriver: boolean): SentSignal {
  const shell = readProcess(shellPid);
  if (!shell || shell.foregroundGroup <= 0) return NOTHING;
  const group = shell.foregroundGroup;
  if (group !== shell.group || !hasDriver) {
    const processes = reportProcesses(listProcesses().filter((entry) => entry.group === group));
    return sendSignal(-group, signal) ? { sent: signal, processes } : NOTHING;
  }
  if (!ENDING_SIGNALS.has(signal)) return NOTHING;
  return sendSignal(-group, 'SIGINT') ? { sent: 'SIGINT', processes: reportProcesses([shell]) } : NOTHING;
}
