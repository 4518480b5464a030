import { type Limits, MB, stricterLimits } from '../../core/limits/limits.js';
import type { Command } from '../command/command.js';
import type { EndReason, Warning } from '../command/outcome.js';
import type { LimitTarget } from '../command/limit-target.js';
import type { ProcessGroup } from '../limits/mechanism.js';
import type { ProcessEntry } from '../platform/contract/process-entry.js';
import { killProcesses, sendSignal } from '../process/end-processes.js';
import { findSessionProcesses } from '../process/find-processes.js';
import type { Breach, Kill } from '../command/resource-use.js';
import type { SessionListener, SessionOptions } from './session-options.js';
import { findEnded } from '../command/ended-processes.js';
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

/** A session as the limits see it. */
export class SessionLimitTarget implements LimitTarget {
  isMonitored = false;
  readonly numbers = new NamespacePids(() => this.#session.shell.root);
  readonly #session: LimitedSession;

  constructor(session: LimitedSession) {
    this.#session = session;
  }

  get group(): ProcessGroup {
    return this.#session.shell.group;
  }

  get limits(): Limits {
    return this.#session.options.limits;
  }

  get own(): readonly number[] {
    return this.#session.shell.root.rootPids;
  }

  get running(): Command | undefined {
    return this.#session.running;
  }

  get idleSince(): number {
    return this.#session.shell.idleSince;
  }

  get isEnding(): LimitTarget['isEnding'] {
    return this.#session.shell.processes.isEnding;
  }

  cancel(command: Command, reason: EndReason): void {
    this.#session.cancel(command, reason);
  }

  hasRest(): boolean {
    return this.#findRest(this.#session.shell).length > 0;
  }

  async endRest(breach: Breach): Promise<void> {
    const { shell } = this.#session;
    const { group, root, processes } = shell;
    const killedPids: number[] = [];
    const onKill = (pids: readonly number[]) => killedPids.push(...pids);
    await killProcesses(() => this.#findRest(shell), { processes, group, root, onKill });
    this.#warn(breach, killedPids);
  }

  endShell(breach: Breach): void {
    const { pid, root } = this.#session.shell;
    this.#warn(breach, [namespacePid(pid, root)]);
    sendSignal(pid, 'SIGKILL');
  }

  endSession(breach: Breach): void {
    const { pid, root } = this.#session.shell;
    this.#noteKill(breach, [namespacePid(pid, root)]);
    this.#session.listener.onExceeded(breach);
  }

  noteBreach(breach: Breach): void {
    this.#warn(breach, []);
  }

  /** A command may start while processes of others are being ended. */
  #findRest(shell: ShellProcess): ProcessEntry[] {
    const found = findSessionProcesses(shell);
    const spared = new Set(this.#session.findRunning().map(({ pid }) => pid));
    return found.filter(({ pid }) => !spared.has(pid));
  }

  #warn(breach: Breach, killedPids: readonly number[]): void {
    this.#noteKill(breach, killedPids);
    this.#session.noteWarning(breachWarning(breach));
  }

  #noteKill(breach: Breach, killedPids: readonly number[]): void {
    this.#session.lastKill = { breach, peak: breach.observed, killedPids };
  }
}

/** Starts measuring a command that begins in a shell, and applies the command's own limits. */
export function startWithinSessionLimits(
  target: Pick<LimitTarget, 'limits' | 'isMonitored' | 'noteBreach'>,
  command: Command,
  shell: ShellProcess,
): void {
  const { meter, spec } = command;
  const { group } = shell;
  // Without background processes there is nothing that the kernel could have killed.
  if (target.isMonitored) noteBackgroundKills(target, group);
  const limits = limitsOf(command, target.limits);
  const writtenBytes = limits.disk_mb === undefined ? undefined : group.writtenBytes(shell.pid);
  meter.begin({ group, limits, atStart: { cpuMs: group.cpuMs(), writtenBytes }, waiter: shell.pid });
  if (spec.resourceLimits) group.setLimits(limits);
}

/** What the kernel has killed before a command does not count against it. */
function noteBackgroundKills(target: Pick<LimitTarget, 'limits' | 'noteBreach'>, group: ProcessGroup): void {
  const { memory_mb: limit } = target.limits;
  if (limit === undefined || group.takeKernelActions().kills === 0) return;
  target.noteBreach({ resource: 'memory_mb', limit, observed: limit });
}

/** Limits that apply while a command runs: its own, and those of its session. */
const limitsOf = ({ spec: { resourceLimits } }: Command, sessionLimits: Limits): Limits =>
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
