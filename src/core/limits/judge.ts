import { KILLED_BY, type LimitName, LIMIT_NAMES, type Limits, MB, type Resource, stricterLimits } from './limits.js';

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
