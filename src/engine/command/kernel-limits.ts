import { type Limits, MB, stricterLimits } from '../../core/limits/limits.js';
import type { Command } from './command.js';
import type { Warning } from './outcome.js';
import type { LimitTarget } from './limit-target.js';
import type { ProcessGroup } from '../limits/mechanism.js';
import { findEnded } from './ended-processes.js';
import { keptWarning } from './limit-warnings.js';

/** Limits that apply while a command runs: its own, and those of its session. */
export const limitsOf = ({ spec: { resourceLimits } }: Command, sessionLimits: Limits): Limits =>
  resourceLimits ? stricterLimits(sessionLimits, resourceLimits) : sessionLimits;

/** A shorter command, in milliseconds, starts no processes: the kernel cannot have enforced anything. */
const TOO_SHORT_MS = 1;

/**
 * Finds out what the kernel has done to enforce a command's limits since its start, so that it does not count for
 * the next command. When a process was killed and the command has failed, the command counts as ended for that limit:
 * otherwise its result would show a signal or an exit code without the reason. Must be called before the command is
 * finished.
 * @param unharmed processes that have ended, but were not killed; by default the processes around the shell
 * @returns warnings for the result in all other cases
 */
export function noteKernelActions(
  command: Command,
  watched: Pick<LimitTarget, 'group' | 'limits' | 'numbers' | 'own' | 'isEnding'>,
  exitCode: number,
  unharmed?: readonly number[],
): readonly Warning[] {
  const limits = limitsOf(command, watched.limits);
  if (!mayHaveActed(limits, command, exitCode)) return [];
  command.meter.noteKernel(watched.group.takeKernelActions());
  const { kills, refusedForks } = command.meter.kernel;
  // The command is already being ended for a limit, and its result reports that.
  if (command.endReason?.breach) return [];
  const { memory_mb: limitMb, processes } = limits;
  if (kills > 0 && limitMb !== undefined) {
    notePeakMemory(command, watched.group, limitMb);
    // A command that was not affected has completed normally.
    if (exitCode === 0) return [keptWarning('ended', 'memory_mb', limitMb)];
    command.noteKilled(findEnded(command, watched, unharmed));
    const breach = { resource: 'memory_mb', limit: limitMb, observed: limitMb } as const;
    command.requestEnd({ status: 'killed', killedBy: 'memory', breach });
    return [];
  }
  return refusedForks > 0 && processes !== undefined ? [keptWarning('not started', 'processes', processes)] : [];
}

/** Whether the kernel enforces one of the limits, and the command could be affected. */
function mayHaveActed({ memory_mb, processes }: Limits, command: Command, exitCode: number): boolean {
  if (memory_mb === undefined && processes === undefined) return false;
  return exitCode !== 0 || command.ageMs >= TOO_SHORT_MS;
}

function notePeakMemory({ meter }: Command, group: ProcessGroup, limitMb: number): void {
  meter.notePeakMemory(Math.min(group.peakMemoryBytes() ?? Infinity, limitMb * MB));
}
