import { setTimeout as sleep } from 'node:timers/promises';

import type { Log } from '../../core/logging/log.js';
import type { ProcessEntry } from '../platform/contract/process-entry.js';
import { pidExists } from '../platform/pid-exists.js';
import { isSandboxed } from '../process/process-root.js';
import { endProcesses, sendSignal, waitForEnd } from '../process/end-processes.js';
import { askPatiently } from '../process/ask-patiently.js';
import { findSessionProcesses, hasNoProcesses } from '../process/find-processes.js';
import type { KnownMembers } from '../process/process-survey.js';
import type { ShellProcess } from './shell-process.js';

/** Longest run time of an EXIT trap when a shell is asked to exit, in milliseconds. */
const EXIT_TRAP_MS = 1000;
/** Longest wait for the end of a sandbox whose leader was killed, in milliseconds. */
const SANDBOX_END_MS = 400;
/** Time for which a shell that waits counts as alone once it was, in milliseconds. */
const ALONE_MS = 1000;
/** Longest polling interval, in milliseconds. */
const MAX_PAUSE_MS = 20;

/** Asks a shell to exit, so that its EXIT trap runs, and waits for that. Returns processes that the exit would hide. */
export async function letExit(shell: ShellProcess): Promise<readonly ProcessEntry[]> {
  const { processes, terminal, pid } = shell;
  if (terminal.hasExited) return [];
  const { entry, hidden } = await lookBeforeExit(shell);
  if (!entry) return [];
  shell.requests.askToExit();
  const isThere = () => (processes.askAside ? pidExists(pid) : processes.isAlive(entry));
  const deadline = performance.now() + EXIT_TRAP_MS;
  for (let pause = 1; isThere() && performance.now() < deadline; pause = Math.min(MAX_PAUSE_MS, pause * 2)) {
    await sleep(pause);
  }
  return hidden;
}

/** A shell before its exit, unless it has ended. */
interface BeforeExit {
  readonly entry: ProcessEntry | undefined;
  /**
   * What would not be found after the exit: without marks, a process with an emptied environment is known by its terminal
   * alone, which the kernel takes from it then.
   */
  readonly hidden: readonly ProcessEntry[];
}

async function lookBeforeExit(shell: ShellProcess): Promise<BeforeExit> {
  const { platform, processes, pid } = shell;
  const { askAside, read } = processes;
  const look = () => ({ entry: read(pid), hidden: platform.can.marks ? [] : findSessionProcesses(shell) });
  if (!askAside) return look();
  // A shell that waits starts nothing: what was alone with it then is so still. Not for long: it may have traps.
  const before = await askAside(look, Math.max(shell.idleSince, performance.now() - ALONE_MS));
  return before.entry && before.hidden.length === 0 ? before : askAside(look);
}

/** The processes that are known to belong to a shell, with further ones. */
const membersWith = ({ group, processes }: ShellProcess, others: readonly ProcessEntry[]): KnownMembers => ({
  isKeptByKernel: group.isKeptByKernel,
  members: () => [...group.members(), ...others.filter(processes.isAlive).map(({ pid }) => pid)],
  holdForks: (isHeld) => {
    group.holdForks(isHeld);
  },
});

/** How a shell is ended. */
export interface ShellEnd {
  /** Time between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  /** Processes that belong to it, though nothing may show that any more. */
  readonly known: readonly ProcessEntry[];
}

/** Ends a shell and everything that it has started. Returns the processes that were still running at the end. */
export async function endShell(shell: ShellProcess, { graceMs, known }: ShellEnd, log: Log): Promise<ProcessEntry[]> {
  const { processes, tag, root } = shell;
  const { sessionLeader, rootPids } = shell.root;
  // A sandbox outlives its leader for a moment.
  const mayRun = !shell.terminal.hasExited || isSandboxed(shell.root);
  const ownEntries = mayRun ? rootPids.flatMap((pid) => processes.read(pid) ?? []) : [];
  const group = known.length === 0 ? shell.group : membersWith(shell, known);
  const scope = { tag, root, group, processes };
  const find = () => findSessionProcesses(scope);
  let survivors: ProcessEntry[];
  try {
    // Most shells have nothing left: when many are ended at once, they are searched for together.
    survivors = (await hasNoProcesses(scope)) ? [] : await endProcesses(find, graceMs, { processes, group });
  } catch (error) {
    // EMFILE: processes cannot be listed. Closing the shell's own descriptors frees enough of them.
    log.warn('a session is ended at once', { error: String(error) });
    sendSignal(sessionLeader, 'SIGKILL');
    shell.close();
    survivors = await askPatiently(() => endProcesses(find, 0, { processes, group }));
  }
  const leaderEntry = ownEntries.find(({ pid }) => pid === sessionLeader);
  if (leaderEntry && processes.isAlive(leaderEntry)) sendSignal(sessionLeader, 'SIGKILL');
  // A sandbox ends shortly after its leader.
  if (isSandboxed(shell.root)) await waitForEnd(ownEntries, SANDBOX_END_MS, processes);
  return survivors;
}
