import { setTimeout as sleep } from 'node:timers/promises';

import type { Log } from '../../core/logging/log.js';
import type { ProcessEntry } from '../platform/contract/process-entry.js';
import { isSandboxed } from '../process/process-root.js';
import { endProcesses, sendSignal, waitForEnd } from '../process/end-processes.js';
import { findSessionProcesses, hasNoProcesses } from '../process/find-processes.js';
import type { ShellProcess } from './shell-process.js';

/** Longest run time of an EXIT trap when a shell is asked to exit, in milliseconds. */
const EXIT_TRAP_MS = 1000;
/** Longest wait for the end of a sandbox whose leader was killed, in milliseconds. */
const SANDBOX_END_MS = 400;
/** Longest polling interval, in milliseconds. */
const MAX_PAUSE_MS = 20;

/** Asks a shell to exit, so that its EXIT trap runs, and waits for that. */
export async function letExit(shell: ShellProcess): Promise<void> {
  const { isAlive, read } = shell.processes;
  const entry = read(shell.pid);
  if (shell.terminal.hasExited || !entry) return;
  shell.askToExit();
  const deadline = performance.now() + EXIT_TRAP_MS;
  for (let pause = 1; isAlive(entry) && performance.now() < deadline; pause = Math.min(MAX_PAUSE_MS, pause * 2)) {
    await sleep(pause);
  }
}

/**
 * Ends a shell and everything that it has started. Returns the processes that were still running at the end.
 * @param graceMs time between SIGTERM and SIGKILL
 */
export async function endShell(shell: ShellProcess, graceMs: number, log: Log): Promise<ProcessEntry[]> {
  const { processes } = shell;
  const { sessionLeader, rootPids } = shell.root;
  const ownEntries = rootPids.flatMap((pid) => processes.read(pid) ?? []);
  const find = () => findSessionProcesses(shell);
  const { group } = shell;
  let survivors: ProcessEntry[];
  try {
    // Most shells have nothing left: when many are ended at once, they are searched for together.
    survivors = (await hasNoProcesses(shell)) ? [] : await endProcesses(find, graceMs, { processes, group });
  } catch (error) {
    // EMFILE: processes cannot be listed. Closing the shell's own descriptors frees enough of them.
    log.warn('a session is ended at once', { error: String(error) });
    sendSignal(sessionLeader, 'SIGKILL');
    shell.close();
    survivors = await endProcesses(find, 0, { processes, group });
  }
  const leaderEntry = ownEntries.find(({ pid }) => pid === sessionLeader);
  if (leaderEntry && processes.isAlive(leaderEntry)) sendSignal(sessionLeader, 'SIGKILL');
  // A sandbox ends shortly after its leader.
  if (isSandboxed(shell.root)) await waitForEnd(ownEntries, SANDBOX_END_MS, processes);
  return survivors;
}
