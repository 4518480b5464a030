import { type LimitName, LIMIT_NAMES, type Limits, MB, type Resource } from './limits.js';

/** Share of a limit from which on a warning is given. */
export const WARNING_SHARE = 0.8;

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

/** How close a limit is. */
export interface Finding {
  readonly resource: Resource;
  readonly limit: number;
  readonly observed: number;
  /** Above 1 the limit is exceeded. */
  readonly share: number;
}

const OBSERVE: Record<LimitName, (usage: Usage) => number | undefined> = {
  cpu_percent: ({ cpuPercent }) => cpuPercent,
  cpu_seconds: ({ cpuMs }) => (cpuMs === undefined ? undefined : cpuMs / 1000),
  memory_mb: ({ memoryBytes }) => (memoryBytes === undefined ? undefined : memoryBytes / MB),
  processes: ({ processes }) => processes,
  disk_mb: ({ writtenBytes }) => (writtenBytes === undefined ? undefined : writtenBytes / MB),
};

/** How close each limit is, the nearest first; only limits with a known usage. */
export function judgeUsage(limits: Limits, usage: Usage): Finding[] {
  const findings = LIMIT_NAMES.flatMap((resource): Finding[] => {
    const limit = limits[resource];
    const observed = OBSERVE[resource](usage);
    return limit === undefined || observed === undefined
      ? []
      : [{ resource, limit, observed, share: observed / limit }];
  });
  return findings.toSorted((a, b) => b.share - a.share);
}

/**
 * How close free disk space is to its floor, for a command that writes.
 * @param floorMb free space to keep
 */
export function judgeFreeSpace(floorMb: number, freeBytes: number): Finding {
  const observed = freeBytes / MB;
  return { resource: 'disk_free_mb', limit: floorMb, observed, share: observed === 0 ? Infinity : floorMb / observed };
}
