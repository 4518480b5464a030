import { AdapterError } from '../errors.js';

/** Limits that a client may lower, by their names on the wire, each with the key of the configuration that bounds it. */
export const LIMIT_KEYS = {
  cpu_percent: 'cpu_percent_limit',
  cpu_seconds: 'cpu_seconds_limit',
  memory_mb: 'memory_mb_limit',
  processes: 'process_limit',
  disk_mb: 'disk_mb_limit',
} as const;

/** A limit that a client may lower. */
export type LimitName = keyof typeof LIMIT_KEYS;

export const LIMIT_NAMES = Object.keys(LIMIT_KEYS) as LimitName[];

/** What can be exceeded: those, and the free space that the machine shall keep. */
export const RESOURCES = [...LIMIT_NAMES, 'disk_free_mb'] as const;
export type Resource = (typeof RESOURCES)[number];

/** How limits can be kept, the best first. */
export const LIMIT_MECHANISM_NAMES = ['cgroup2', 'cgroup1', 'pid_namespace', 'polling'] as const;
export type LimitMechanismName = (typeof LIMIT_MECHANISM_NAMES)[number];

/** Limits in the units of their names; what is left out is not limited. */
export type Limits = Readonly<Partial<Record<LimitName, number | undefined>>>;

/** Whether there is any limit. */
export const hasLimits = (limits: Limits): boolean => LIMIT_NAMES.some((name) => limits[name] !== undefined);

/** One MB of the limits, in bytes. */
export const MB = 1024 * 1024;

/** What `killed_by` says of a command that has exceeded a limit. */
export const KILLED_BY = {
  cpu_percent: 'cpu',
  cpu_seconds: 'cpu',
  memory_mb: 'memory',
  processes: 'processes',
  disk_mb: 'disk',
  disk_free_mb: 'disk',
} as const satisfies Record<Resource, string>;

/**
 * Limits as somebody wants them, within the bounds that hold anyway.
 * @param boundBy what the message names as the reason: the configuration, or the session
 * @throws AdapterError INVALID_REQUEST when one is higher than its bound
 */
export function lowerLimits(bounds: Limits, wanted: Limits | undefined, boundBy: 'configuration' | 'session'): Limits {
  if (!wanted) return bounds;
  const lowered: Partial<Record<LimitName, number | undefined>> = { ...bounds };
  for (const name of LIMIT_NAMES) {
    const value = wanted[name];
    if (value === undefined) continue;
    const max = bounds[name];
    if (max !== undefined && value > max) {
      const why = boundBy === 'configuration' ? LIMIT_KEYS[name] : 'what the session was opened with';
      throw new AdapterError('INVALID_REQUEST', `limits.${name}: at most ${max} (${why})`, {
        details: { field: `limits.${name}`, max },
      });
    }
    lowered[name] = value;
  }
  return lowered;
}

/** The lower of two sets of limits, one by one. */
export function stricterLimits(some: Limits, others: Limits): Limits {
  const entries = LIMIT_NAMES.flatMap((name) => {
    const values = [some[name], others[name]].filter((value) => value !== undefined);
    return values.length === 0 ? [] : [[name, Math.min(...values)]];
  });
  return Object.fromEntries(entries) as Limits;
}
