import { type Limits, MB, stricterLimits } from '../core/limits/limits.js';
import type { Command, EndReason, Warning } from './command.js';
import type { ProcessGroup } from './limits/mechanism.js';
import type { Watched } from './limits/watched.js';
import { type ProcessEntry, readProcess } from './process-table.js';
import { findSessionProcesses, killProcesses, sendSignal } from './process-tree.js';
import type { SessionOptions } from './session-options.js';
import { breachWarning } from './shell-loss.js';
import type { ShellProcess } from './shell-process.js';

/** What is needed of a session to keep its limits. */
interface LimitedSession {
  readonly options: Pick<SessionOptions, 'limits'>;
  readonly shell: ShellProcess;
  readonly running: Command | undefined;
  cancel(command: Command, reason: EndReason): void;
  noteWarning(warning: Warning): void;
}

/** A session, as limits are kept for it. */
export function watchSession(session: LimitedSession): Watched {
  return {
    get group() {
      return session.shell.group;
    },
    get limits() {
      return session.options.limits;
    },
    get own() {
      return session.shell.root.own;
    },
    get running() {
      return session.running;
    },
    cancel: (command, reason) => {
      session.cancel(command, reason);
    },
    endRest: async (breach) => {
      const { shell } = session;
      const killed: number[] = [];
      const onKill = (entries: readonly ProcessEntry[]) => killed.push(...entries.map(({ pid }) => pid));
      await killProcesses(() => findSessionProcesses(shell), { group: shell.group, onKill });
      session.noteWarning(breachWarning(breach));
      return killed;
    },
    endShell: (breach) => {
      session.noteWarning(breachWarning(breach));
      sendSignal(session.shell.pid, 'SIGKILL');
    },
    noteBreach: (breach) => {
      session.noteWarning(breachWarning(breach));
    },
  };
}

/** A command begins in a group: it is measured from now on, and what it was given of limits of its own holds. */
export function beginWithin(limits: Limits, { meter, spec }: Command, group: ProcessGroup): void {
  meter.begin(group);
  if (spec.resourceLimits) group.setLimits(stricterLimits(limits, spec.resourceLimits));
}

/**
 * Finds out whether the kernel has killed something of a command to keep its limit on memory, and then tells the command:
 * its result would show a signal or an exit code, and not why. To be called before it is finished.
 */
export function noteKernelKills(
  command: Command,
  { group, limits }: Pick<Watched, 'group' | 'limits'>,
  exitCode: number,
): void {
  const limitMb = stricterLimits(limits, command.spec.resourceLimits ?? {}).memory_mb;
  // A command that was not affected by it has done what it was to do.
  if (limitMb === undefined || exitCode === 0) return;
  if (group.takeKernelActions().kills === 0) return;
  const { meter } = command;
  command.noteKilled(meter.lastPids.filter((pid) => readProcess(pid) === undefined));
  meter.notePeakMemory(Math.min(group.peakMemoryBytes() ?? Infinity, limitMb * MB));
  const breach = { resource: 'memory_mb', limit: limitMb, observed: limitMb } as const;
  command.requestEnd({ status: 'killed', killedBy: 'memory', breach });
}
