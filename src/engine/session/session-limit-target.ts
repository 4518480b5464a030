import { type Limits } from '../../core/limits.js';
import type { Command } from '../command/command.js';
import type { EndReason } from '../command/outcome.js';
import { type Breach, breachWarning, limitsOf, type LimitTarget } from '../command/resource-use.js';
import type { ProcessGroup } from '../limits/mechanism.js';
import type { ProcessEntry } from '../platform/platform.js';
import { killProcesses } from '../process/end-processes.js';
import { sendSignal } from '../system/signals.js';
import { findSessionProcesses, namespacePid, NamespacePids } from '../process/find-processes.js';
import type { Session } from './session.js';
import type { ShellProcess } from '../shell/shell-process.js';

/** A session as the limits see it. */
export class SessionLimitTarget implements LimitTarget {
  isMonitored = false;
  readonly numbers = new NamespacePids(() => this.#session.shell.root);
  readonly #session: Session;

  constructor(session: Session) {
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
export function startWithinSessionLimits(target: LimitTarget, command: Command, shell: ShellProcess): void {
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
function noteBackgroundKills(target: LimitTarget, group: ProcessGroup): void {
  const { memory_mb: limit } = target.limits;
  if (limit === undefined || group.takeKernelActions().kills === 0) return;
  target.noteBreach({ resource: 'memory_mb', limit, observed: limit });
}
