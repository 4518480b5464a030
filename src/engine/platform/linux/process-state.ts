import { uptime } from 'node:os';

import { type ProcessEntry, TICKS_PER_SECOND } from '../contract/process-entry.js';
import { commandLine, readProc, readProcess } from './process-table.js';

const NS_PER_SECOND = 1e9;

/** Bit of SIGKILL in the masks of /proc/PID/status. */
const SIGKILL_BIT = 0x100n;

/** Whether a process has ended, or is just ending: its command line is gone, or a SIGKILL is pending. */
export function isEnding({ pid }: Pick<ProcessEntry, 'pid'>): boolean {
  if (!readProc(pid, 'cmdline')) return true;
  const masks = readProc(pid, 'status')?.matchAll(/^(?:SigPnd|ShdPnd):\s*([0-9a-f]+)$/gm) ?? [];
  return [...masks].some(([, mask = '0']) => (BigInt(`0x${mask}`) & SIGKILL_BIT) !== 0n);
}

/** Whether a process catches, ignores or blocks a signal, so that the signal does not kill it. */
export function handlesSignal(pid: number, signal: number): boolean {
  const masks = readProc(pid, 'status')?.matchAll(/^(?:SigIgn|SigCgt|SigBlk):\s*([0-9a-f]+)$/gm) ?? [];
  const bit = 1n << BigInt(signal - 1);
  return [...masks].some(([, mask = '0']) => (BigInt(`0x${mask}`) & bit) !== 0n);
}

/** Returns the signals that a process catches, as a hexadecimal mask. */
function caughtSignals(pid: number): string | undefined {
  return /^SigCgt:\s*([0-9a-f]+)$/m.exec(readProc(pid, 'status') ?? '')?.[1];
}

/** Longest time from fork(2) to exec(2), on a loaded machine too, in clock ticks. */
const EXEC_TICKS = 0.3 * TICKS_PER_SECOND;

/**
 * Returns the current time on the clock of `startTicks`. Some containers report their own uptime, which is less
 * (lxcfs); the monotonic clock is behind after a suspension of the machine.
 */
export const ticksNow = (): number =>
  Math.max(uptime(), Number(process.hrtime.bigint()) / NS_PER_SECOND) * TICKS_PER_SECOND;

/** Whether a process was started a moment ago: it may still exec another program, or be about to start one and end. */
export const isYoung = ({ startTicks }: ProcessEntry): boolean => ticksNow() - startTicks < EXEC_TICKS;

/** CPU time, in clock ticks, from which a process is at work, and not only about to exec. */
const WORKING_TICKS = 2;

/** Whether a process was started a moment ago and has had next to no CPU time, though it could run. */
export const isWaitingForCpu = (entry: ProcessEntry): boolean =>
  isYoung(entry) && entry.state === 'R' && entry.cpuTicks < WORKING_TICKS;

/**
 * Whether a process still has the command line of the shell that has forked it because it waits for a CPU, or was stopped
 * meanwhile. Just before it execs, it has handlers of its own, so that `isBeforeExec` does not tell it from a subshell.
 */
export const isWaitingCopy = (child: ProcessEntry, shellPid: number): boolean =>
  (isWaitingForCpu(child) || isStoppedEarly(child)) && isCopy(child, shellPid);

/** Whether a process has the command line of the shell that has forked it: it has not exec'ed. */
const isCopy = (child: ProcessEntry, shellPid: number): boolean =>
  commandLine(child) === commandLine({ pid: shellPid, name: '' });

const hasHandlersOf = (child: ProcessEntry, shellPid: number): boolean =>
  caughtSignals(child.pid) === caughtSignals(shellPid);

const isStoppedEarly = (entry: ProcessEntry): boolean =>
  isYoung(entry) && entry.state === 'T' && entry.cpuTicks < WORKING_TICKS;

/**
 * Whether a shell has just forked this process, which is about to exec a program: it still has the shell's command
 * line, and the shell's signal handlers, in which signals are lost. (A subshell has its own handlers.)
 */
export const isBeforeExec = (child: ProcessEntry, shellPid: number): boolean =>
  isYoung(child) && isCopy(child, shellPid) && isAlive(child) && hasHandlersOf(child, shellPid);

/**
 * Whether a process may be a fork of a shell that has not exec'ed, however long ago it was started: a loaded machine may have
 * it wait. A subshell has handlers of its own, and sleeps or works.
 */
export function isFork(child: ProcessEntry, shellPid: number): boolean {
  const hasDoneNothing = child.state !== 'S' && child.cpuTicks < WORKING_TICKS;
  return isCopy(child, shellPid) && isAlive(child) && (hasDoneNothing || hasHandlersOf(child, shellPid));
}

/** Index of the exit code among the fields after the name in /proc/PID/stat. */
const EXIT_CODE_FIELD = 49;

/** Returns the number of the signal that killed a zombie; 0 for none. */
export function exitSignal(pid: number): number {
  const stat = readProc(pid, 'stat') ?? '';
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[EXIT_CODE_FIELD] ?? 0) & 0x7f;
}

/** Whether a number belongs to a thread other than the first of its process: /proc/NUMBER exists for it too. */
export function isThread(number: number): boolean {
  const process = /^Tgid:\s*(\d+)$/m.exec(readProc(number, 'status') ?? '')?.[1];
  return process !== undefined && process !== String(number);
}

/** Whether exactly this process still runs: not another one with the same pid, not a zombie. */
export function isAlive(process: Pick<ProcessEntry, 'pid' | 'startTicks'>): boolean {
  const now = readProcess(process.pid);
  return now !== undefined && now.startTicks === process.startTicks && now.state !== 'Z' && now.state !== 'X';
}
