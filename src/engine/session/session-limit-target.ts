import { type Limits, MB, stricterLimits } from '../../core/limits/limits.js';
import type { Command, EndReason, Warning } from '../command/command.js';
import type { LimitTarget } from '../command/limit-target.js';
import { isEnding, type ProcessEntry } from '../process/process-table.js';
import { findSessionProcesses, killProcesses, sendSignal } from '../process/process-tree.js';
import type { Kill } from '../command/resource-use.js';
import type { SessionListener, SessionOptions } from './session-options.js';
import { breachWarning, keptWarning } from '../command/limit-warnings.js';
import type { ShellProcess } from '../shell/shell-process.js';
import { NamespacePids, namespacePid } from '../process/namespace-pids.js';

/** The parts of a session that are needed to enforce its limits. */
interface LimitedSession {
  readonly options: Pick<SessionOptions, 'limits'>;
  readonly shell: ShellProcess;
  readonly running: Command | undefined;
  /** Returns the processes that the running command has started. */
  findRunning(): ProcessEntry[];
  cancel(command: Command, reason: EndReason): void;
  noteWarning(warning: Warning): void;
  readonly listener: Pick<SessionListener, 'onExceeded'>;
  lastKill: Kill | undefined;
}

/** Returns the limit target of a session. */
export function sessionLimitTarget(session: LimitedSession): LimitTarget {
  // A command may start while processes of others are being ended.
  const findRest = (shell = session.shell) => {
    const found = findSessionProcesses(shell);
    const spared = new Set(session.findRunning().map(({ pid }) => pid));
    return found.filter(({ pid }) => !spared.has(pid));
  };
  return {
    get group() {
      return session.shell.group;
    },
    get limits() {
      return session.options.limits;
    },
    get own() {
      return session.shell.root.rootPids;
    },
    get running() {
      return session.running;
    },
    numbers: new NamespacePids(() => session.shell.root),
    cancel: (command, reason) => {
      session.cancel(command, reason);
    },
    hasRest: () => findRest().length > 0,
    endRest: async (breach) => {
      const { shell } = session;
      const { group, root } = shell;
      const killedPids: number[] = [];
      const onKill = (pids: readonly number[]) => killedPids.push(...pids);
      await killProcesses(() => findRest(shell), { group, root, onKill });
      session.lastKill = { breach, peak: breach.observed, killedPids };
      session.noteWarning(breachWarning(breach));
    },
    endShell: (breach) => {
      const { pid, root } = session.shell;
      session.lastKill = { breach, peak: breach.observed, killedPids: [namespacePid(pid, root)] };
      session.noteWarning(breachWarning(breach));
      sendSignal(pid, 'SIGKILL');
    },
    endSession: (breach) => {
      const { pid, root } = session.shell;
      session.lastKill = { breach, peak: breach.observed, killedPids: [namespacePid(pid, root)] };
      session.listener.onExceeded(breach);
    },
    noteBreach: (breach) => {
      session.lastKill = { breach, peak: breach.observed, killedPids: [] };
      session.noteWarning(breachWarning(breach));
    },
  };
}

/** Starts measuring a command that begins in a shell, and applies the command's own limits. */
export function startWithinSessionLimits(sessionLimits: Limits, { meter, spec }: Command, shell: ShellProcess): void {
  const { group } = shell;
  const limits = spec.resourceLimits ? stricterLimits(sessionLimits, spec.resourceLimits) : sessionLimits;
  const writtenBytes = limits.disk_mb === undefined ? undefined : group.writtenBytes(shell.pid);
  meter.begin({ group, limits, atStart: { cpuMs: group.cpuMs(), writtenBytes }, waiter: shell.pid });
  if (spec.resourceLimits) group.setLimits(limits);
}

/** A shorter command, in milliseconds, starts no processes: the kernel cannot have enforced anything. */
const TOO_SHORT_MS = 1;

/**
 * Finds out what the kernel has done to enforce a command's limits since the last check, so that it does not count for
 * the next command. When a process was killed and the command has failed, the command counts as ended for that limit:
 * otherwise its result would show a signal or an exit code without the reason. Must be called before the command is
 * finished.
 * @param unharmed processes that have ended, but were not killed; by default the processes around the shell
 * @returns warnings for the result in all other cases
 */
export function noteKernelActions(
  command: Command,
  watched: Pick<LimitTarget, 'group' | 'limits' | 'numbers' | 'own'>,
  exitCode: number,
  unharmed: readonly number[] = watched.own.slice(0, -1),
): readonly Warning[] {
  const { group, limits } = watched;
  const { memory_mb: limitMb, processes } = stricterLimits(limits, command.spec.resourceLimits ?? {});
  if ((limitMb === undefined && processes === undefined) || (exitCode === 0 && command.ageMs < TOO_SHORT_MS)) return [];
  const { kills, refusedForks } = group.takeKernelActions();
  // The command is already being ended for a limit, and its result reports that.
  if (command.endReason?.breach) return [];
  if (kills > 0 && limitMb !== undefined) {
    command.meter.notePeakMemory(Math.min(group.peakMemoryBytes() ?? Infinity, limitMb * MB));
    // A command that was not affected has completed normally.
    if (exitCode === 0) return [keptWarning('ended', 'memory_mb', limitMb)];
    const killed = command.meter.lastPids.filter((pid) => !unharmed.includes(pid) && isEnding({ pid }));
    command.noteKilled(killed.map((pid) => watched.numbers.of(pid)));
    const breach = { resource: 'memory_mb', limit: limitMb, observed: limitMb } as const;
    command.requestEnd({ status: 'killed', killedBy: 'memory', breach });
  } else if (refusedForks > 0 && processes !== undefined) return [keptWarning('not started', 'processes', processes)];
  return [];
}
