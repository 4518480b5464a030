import { KILLED_BY, LIMIT_NAMES, type LimitName, type Limits, MB, type Resource, stricterLimits } from './limits.js';

/** Share of a limit from which on a warning is given. */
export const WARNING_SHARE = 0.8;
/** Share that represents a limit enforced by the kernel: it was reached, and more was requested. */
const WANTED_MORE = 1.01;

/**
 * Resources that the processes of a session or command use, or have used since a start. Undefined values are unknown.
 */
export interface Usage {
  /** CPU time used, in milliseconds. */
  readonly cpuMs: number | undefined;
  /** Average over the whole window; undefined until the window is complete. */
  readonly cpuPercent: number | undefined;
  readonly memoryBytes: number | undefined;
  /** Processes and threads. */
  readonly processes: number | undefined;
  readonly writtenBytes: number | undefined;
}

/** Actions of the kernel to enforce a limit. */
export interface KernelActions {
  /** Processes killed by the OOM killer. */
  readonly kills: number;
  /** Forks that failed because of the limit on processes. */
  readonly refusedForks: number;
}

/** How close a limit is. */
export interface Finding {
  readonly resource: Resource;
  readonly limit: number;
  readonly observed: number;
  /** Above 1 the limit is exceeded. */
  readonly share: number;
}

/** Limits of a session and of its running command, and what one sample says about them. */
export interface Evidence {
  readonly limits: Limits;
  readonly usage: Usage;
  readonly commandLimits: Limits;
  readonly commandUsage: Usage;
  /** Since the last sample. */
  readonly kernel: KernelActions;
  /** A disk that the processes write to: the space to keep free, and what is free. Undefined without a floor. */
  readonly disk: { readonly floorMb: number; readonly freeBytes: number } | undefined;
}

const OBSERVE: Record<LimitName, (usage: Usage) => number | undefined> = {
  cpu_percent: ({ cpuPercent }) => cpuPercent,
  cpu_seconds: ({ cpuMs }) => (cpuMs === undefined ? undefined : cpuMs / 1000),
  memory_mb: ({ memoryBytes }) => (memoryBytes === undefined ? undefined : memoryBytes / MB),
  processes: ({ processes }) => processes,
  disk_mb: ({ writtenBytes }) => (writtenBytes === undefined ? undefined : writtenBytes / MB),
};

const nearestFirst = (findings: Finding[]): Finding[] => findings.toSorted((a, b) => b.share - a.share);

/** How close each limit is, the nearest first; only limits with a known usage. */
export function judgeUsage(limits: Limits, usage: Usage): Finding[] {
  const findings = LIMIT_NAMES.flatMap((resource): Finding[] => {
    const limit = limits[resource];
    const observed = OBSERVE[resource](usage);
    return limit === undefined || observed === undefined
      ? []
      : [{ resource, limit, observed, share: observed / limit }];
  });
  return nearestFirst(findings);
}

/**
 * How close free disk space is to its floor, for a command that writes.
 * @param floorMb free space to keep
 */
export function judgeFreeSpace(floorMb: number, freeBytes: number): Finding {
  const observed = freeBytes / MB;
  return { resource: 'disk_free_mb', limit: floorMb, observed, share: observed === 0 ? Infinity : floorMb / observed };
}

/** How long before its time-out a command is warned of, in milliseconds. */
const TIME_LEFT_MS = 60_000;
/** Shortest time-out that is warned of, in milliseconds. */
const MIN_WARNED_MS = 2 * TIME_LEFT_MS;

/**
 * How close the time-out of a command is; undefined while there is more than a minute left, and for a short time-out.
 * @param ageMs time since its start
 */
export function judgeTimeout(
  timeoutMs: number,
  ageMs: number,
): { readonly resource: 'timeout_seconds'; readonly limit: number; readonly observed: number } | undefined {
  if (timeoutMs < MIN_WARNED_MS || timeoutMs - ageMs > TIME_LEFT_MS) return undefined;
  return { resource: 'timeout_seconds', limit: timeoutMs / 1000, observed: ageMs / 1000 };
}

/** How close all limits of a session and its command are, the nearest first. */
export function judge({ limits, usage, commandLimits, commandUsage, kernel, disk }: Evidence): Finding[] {
  return nearestFirst([
    ...judgeUsage(limits, usage),
    ...judgeUsage(commandLimits, commandUsage),
    ...keptByKernel(stricterLimits(limits, commandLimits), kernel),
    ...(disk ? [judgeFreeSpace(disk.floorMb, disk.freeBytes)] : []),
  ]);
}

/** Limits that the kernel has enforced: by killing, or by refusing forks. */
function keptByKernel({ memory_mb: memory, processes }: Limits, { kills, refusedForks }: KernelActions): Finding[] {
  const kept = (resource: Resource, limit: number | undefined): Finding[] =>
    limit === undefined ? [] : [{ resource, limit, observed: limit, share: WANTED_MORE }];
  return [...(kills > 0 ? kept('memory_mb', memory) : []), ...(refusedForks > 0 ? kept('processes', processes) : [])];
}

/** False for limits on cumulative counts: ending a shell cannot lower them. */
export const isHeld = (resource: Resource): boolean => resource !== 'cpu_seconds' && KILLED_BY[resource] !== 'disk';

/** Targets that are ended when a limit is exceeded; `rest` is what earlier commands have left running. */
export type EscalationStep = 'command' | 'rest' | 'shell' | 'session';

/** The ladder. After the background processes the command has its turn again: it was spared while they were ended. */
const RUNGS: readonly EscalationStep[] = ['command', 'rest', 'command', 'shell', 'session'];
const SHELL_RUNG = RUNGS.indexOf('shell');

/** Longest wait for a step to take effect, in milliseconds: killed processes have to disappear first. */
const STEP_MS = 1000;
/** Time without an exceeded limit after which the ladder starts over, in milliseconds. */
const RECOVERY_MS = 10_000;

export interface Endable {
  /** State of the current command; `is_ending` when it is already being ended. */
  readonly command: 'runs' | 'is_ending' | 'none';
  /** Whether processes other than those of the shell and of the command run. */
  readonly hasRest: () => boolean;
  /** Whether ending the shell can help. False where the limit is on a count of the past. */
  readonly canEndShell: boolean;
}

/**
 * Decides what is ended while a limit stays exceeded, or is exceeded again soon: one rung of the ladder after another,
 * without rungs on which nothing can be ended. After the last possible rung the ladder starts over.
 */
export class Escalation {
  #rung = 0;
  #lastAt = -Infinity;
  #isPending = false;

  /**
   * The next step; undefined to wait for the effect of the last one, or when nothing can be ended.
   * @param now on a monotonic clock, in milliseconds
   */
  next(now: number, endable: Endable): EscalationStep | undefined {
    if (this.isWaiting(now)) return undefined;
    const rungs = [...RUNGS.keys()];
    const order = [...rungs.slice(this.#rung), ...rungs.slice(0, this.#rung)];
    const rung = order.find((index) => isPossible(RUNGS[index], endable));
    if (rung === undefined) return undefined;
    this.#rung = rung + 1;
    this.#lastAt = now;
    this.#isPending = true;
    return RUNGS[rung];
  }

  /** Whether the last step may still have to take effect. */
  isWaiting(now: number): boolean {
    return this.#isPending && now - this.#lastAt < STEP_MS;
  }

  /** Called when the last step has taken effect: the next one needs no wait. */
  settle(): void {
    this.#isPending = false;
  }

  /** Called while no limit is exceeded. */
  relax(now: number): void {
    if (now - this.#lastAt >= RECOVERY_MS) this.#rung = 0;
  }

  /** Called when a command has left nothing running: the next one is ended at once, unless the shell itself was. */
  startOver(): void {
    this.settle();
    if (this.#rung <= SHELL_RUNG) this.#rung = 0;
  }
}

function isPossible(step: EscalationStep | undefined, { command, hasRest, canEndShell }: Endable): boolean {
  if (step === 'command') return command === 'runs';
  return step === 'rest' ? hasRest() : canEndShell;
}

/** Time until the first sample of a command, and the shortest interval between two, in milliseconds. */
export const SHORTEST_MS = 5;
/** The longest interval while a command with limits runs, in milliseconds. */
const BUSY_MS = 100;
/**
 * The same while nothing changes, where sampling is expensive. Growth that begins then is noticed up to 200 ms later.
 */
const STILL_MS = 300;
/**
 * The longest interval while no limit can be exceeded soon, in milliseconds: without limits, or with background
 * processes only.
 */
const IDLE_MS = 1000;

export interface Pace {
  /** The last interval; undefined before the first sample. */
  readonly lastPauseMs: number | undefined;
  readonly before: readonly Finding[];
  readonly now: readonly Finding[];
  /** Whether a command runs, rather than only background processes of earlier ones. */
  readonly hasCommand: boolean;
  /** Whether sampling is expensive, and nothing has changed since the last sample. */
  readonly isStill: boolean;
}

/**
 * Time until the next sample, in milliseconds. Intervals double from the start of a command, and end before a limit
 * would be exceeded at the current rate of growth.
 */
export function nextPauseMs({ lastPauseMs, before, now, hasCommand, isStill }: Pace): number {
  const longest = hasCommand && now.length > 0 ? (isStill ? STILL_MS : BUSY_MS) : IDLE_MS;
  if (lastPauseMs === undefined) return SHORTEST_MS;
  const pauses = now.map((finding) => {
    const last = before.find(({ resource }) => resource === finding.resource);
    const growth = last ? finding.share - last.share : 0;
    // Half of the estimated time, since growth may accelerate.
    return growth > 0 ? (lastPauseMs * (1 - finding.share)) / growth / 2 : Infinity;
  });
  return Math.round(Math.max(SHORTEST_MS, Math.min(longest, lastPauseMs * 2, ...pauses)));
}

export class SamplePace {
  #lastPauseMs: number | undefined;
  #before: readonly Finding[] = [];
  #now: readonly Finding[] = [];
  #isStill = false;

  /**
   * Adds the findings of a sample.
   * @param isStill whether nothing has changed since the last one
   */
  note(findings: readonly Finding[], isStill: boolean): void {
    this.#before = this.#now;
    this.#now = findings;
    this.#isStill = isStill;
  }

  /** Starts with the shortest interval again, for another command. */
  restart(): void {
    this.#lastPauseMs = undefined;
  }

  /**
   * Time until the next sample, in milliseconds.
   * @param isExpensive whether samples are to be rarer while nothing changes
   */
  next(hasCommand: boolean, isExpensive: boolean): number {
    const isStill = isExpensive && this.#isStill;
    const state = { lastPauseMs: this.#lastPauseMs, before: this.#before, now: this.#now, hasCommand, isStill };
    this.#lastPauseMs = nextPauseMs(state);
    return this.#lastPauseMs;
  }
}
