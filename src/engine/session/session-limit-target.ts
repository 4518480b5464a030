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

/** What is needed of a session to keep its limits. */
interface LimitedSession {
  readonly options: Pick<SessionOptions, 'limits'>;
  readonly shell: ShellProcess;
  readonly running: Command | undefined;
  /** What the running command has started. */
  findRunning(): ProcessEntry[];
  cancel(command: Command, reason: EndReason): void;
  noteWarning(warning: Warning): void;
  readonly listener: Pick<SessionListener, 'onExceeded'>;
  lastKill: Kill | undefined;
}

/** A session, as limits are kept for it. */
export function sessionLimitTarget(session: LimitedSession): LimitTarget {
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
    endRest: async (breach) => {
      const { shell } = session;
      const killed: number[] = [];
      const onKill = (pids: readonly number[]) => killed.push(...pids);
      // A command may begin while others' processes are ended.
      const find = () => {
        const found = findSessionProcesses(shell);
        const spared = new Set(session.findRunning().map(({ pid }) => pid));
        return found.filter(({ pid }) => !spared.has(pid));
      };
      await killProcesses(find, { group: shell.group, root: shell.root, onKill });
      session.lastKill = { breach, peak: breach.observed, killedPids: killed };
      session.noteWarning(breachWarning(breach));
      return killed;
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

/** A command begins in a shell: it is measured from now on, and what it was given of limits of its own holds. */
export function startWithinSessionLimits(sessionLimits: Limits, { meter, spec }: Command, shell: ShellProcess): void {
  const { group } = shell;
  const limits = spec.resourceLimits ? stricterLimits(sessionLimits, spec.resourceLimits) : sessionLimits;
  const atStart = limits.disk_mb === undefined ? undefined : shell.writtenBytes;
  const written = atStart === undefined ? undefined : { pid: shell.pid, atStart, now: () => shell.writtenBytes };
  meter.begin({ group, cpuAtStart: group.cpuMs(), limits, written });
  if (spec.resourceLimits) group.setLimits(limits);
}

/** In less time no command has others started, in milliseconds: there is nothing that the kernel could have done. */
const TOO_SHORT_MS = 1;

/**
 * Finds out what the kernel has done to keep a command's limits since the last look, so that it does not count for the
 * next one. When something was killed and the command has failed, it was ended for that limit: its result would show a
 * signal or an exit code, and not why. To be called before it is finished.
 * @param unharmed processes that have ended, but were not killed; by default what is around the shell
 * @returns what its result has to tell of it otherwise
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
  // It is being ended for a limit already, and says so.
  if (command.endReason?.breach) return [];
  if (kills > 0 && limitMb !== undefined) {
    command.meter.notePeakMemory(Math.min(group.peakMemoryBytes() ?? Infinity, limitMb * MB));
    // A command that was not affected by it has done what it was to do.
    if (exitCode === 0) return [keptWarning('ended', 'memory_mb', limitMb)];
    const killed = command.meter.lastPids.filter((pid) => !unharmed.includes(pid) && isEnding({ pid }));
    command.noteKilled(killed.map((pid) => watched.numbers.of(pid)));
    const breach = { resource: 'memory_mb', limit: limitMb, observed: limitMb } as const;
    command.requestEnd({ status: 'killed', killedBy: 'memory', breach });
  } else if (refusedForks > 0 && processes !== undefined) return [keptWarning('not started', 'processes', processes)];
  return [];
}
