import { AdapterError } from './errors.js';

/** Limits that a client may lower, by wire name, each with the configuration key of its bound. */
export const LIMIT_KEYS = {
  cpu_percent: 'cpu_percent_limit',
  cpu_seconds: 'cpu_seconds_limit',
  memory_mb: 'memory_mb_limit',
  processes: 'process_limit',
  disk_mb: 'disk_mb_limit',
} as const;

export type LimitName = keyof typeof LIMIT_KEYS;

export const LIMIT_NAMES = Object.keys(LIMIT_KEYS) as LimitName[];

/** Resources that can be exceeded: those limits, and the free disk space to keep. */
export const RESOURCES = [...LIMIT_NAMES, 'disk_free_mb'] as const;

export type Resource = (typeof RESOURCES)[number];

/** What warnings name: those resources, and the time until the time-out of a command. */
export const WARNED_RESOURCES = [...RESOURCES, 'timeout_seconds'] as const;

export type WarnedResource = (typeof WARNED_RESOURCES)[number];

/** What each of them is called for people, with its unit. */
export const RESOURCE_NAMES: Readonly<Record<WarnedResource, { readonly name: string; readonly unit: string }>> = {
  cpu_percent: { name: 'CPU', unit: ' %' },
  cpu_seconds: { name: 'CPU time', unit: ' s' },
  memory_mb: { name: 'memory', unit: ' MB' },
  processes: { name: 'processes', unit: '' },
  disk_mb: { name: 'disk writes', unit: ' MB' },
  disk_free_mb: { name: 'free disk space', unit: ' MB' },
  timeout_seconds: { name: 'run time', unit: ' s' },
};

/** Mechanisms that enforce limits, the best first. */
export const LIMIT_MECHANISM_NAMES = ['cgroup2', 'cgroup1', 'pid_namespace', 'polling'] as const;

export type LimitMechanismName = (typeof LIMIT_MECHANISM_NAMES)[number];

/** Limits in the units of their names; a missing limit means unlimited. */
export type Limits = Readonly<Partial<Record<LimitName, number | undefined>>>;

const hasLimits = (limits: Limits): boolean => LIMIT_NAMES.some((name) => limits[name] !== undefined);

/** One MB in limits, in bytes. */
export const MB = 1024 * 1024;

/** Value of `killed_by` for a command that has exceeded a limit. */
export const KILLED_BY = {
  cpu_percent: 'cpu',
  cpu_seconds: 'cpu',
  memory_mb: 'memory',
  processes: 'processes',
  disk_mb: 'disk',
  disk_free_mb: 'disk',
} as const satisfies Record<Resource, string>;

/**
 * Applies the limits of a request within their bounds.
 * @param boundBy origin of the bounds for the message: the configuration, or the session
 * @throws AdapterError INVALID_REQUEST when a limit is higher than its bound
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

/**
 * Refuses limits of a request that nothing here could enforce.
 * @throws AdapterError INVALID_REQUEST
 */
export function assertEnforceable(wanted: Limits | undefined, unenforceable: readonly LimitName[]): void {
  const name = unenforceable.find((each) => wanted?.[each] !== undefined);
  if (name === undefined) return;
  const message = `limits.${name}: adapter.platform is posix, which cannot enforce it; leave it out`;
  throw new AdapterError('INVALID_REQUEST', message, { details: { field: `limits.${name}` } });
}

/** The lower value of each limit in two sets. Most commands have no limits of their own: that costs nothing. */
export function stricterLimits(some: Limits, others: Limits): Limits {
  if (Object.keys(others).length === 0) return some;
  const entries = LIMIT_NAMES.flatMap((name) => {
    const values = [some[name], others[name]].filter((value) => value !== undefined);
    return values.length === 0 ? [] : [[name, Math.min(...values)]];
  });
  return Object.fromEntries(entries) as Limits;
}

/** Share of the machine's memory that a session, or a command without one, may use. */
const MEMORY_SHARE = 1 / 2;
/** More processes and threads than large parallel builds have, and few enough for a machine to stay usable. */
const MAX_PROCESSES = 1024;
/** Enough for logs, temporary files and a login, in MB. */
const DISK_FLOOR_MB = 512;
/** Share of a small disk that stays free instead. */
const DISK_FLOOR_SHARE = 1 / 20;

/** Size of the machine that commands run on, as far as they may use it. */
export interface MachineSize {
  readonly memoryBytes: number;
  /** Size of the disk of the workspace; undefined when it is not known. */
  readonly diskBytes: number | undefined;
}

/** Limits of sessions and of commands without one, and the free disk space to keep, in MB. */
export interface LimitSet {
  readonly resources: Limits;
  readonly diskFreeMbFloor: number | undefined;
}

export const NO_LIMITS: LimitSet = { resources: {}, diskFreeMbFloor: undefined };

/**
 * Returns the limits that keep a machine usable whatever a command does by accident: half of the memory, 1024
 * processes, and 512 MB of free disk space, or 5 % of a disk smaller than 10 GB.
 */
export function safetyNetFor({ memoryBytes, diskBytes }: MachineSize): LimitSet {
  const floorMb = diskBytes === undefined ? DISK_FLOOR_MB : (diskBytes * DISK_FLOOR_SHARE) / MB;
  return {
    resources: { memory_mb: Math.max(1, Math.floor((memoryBytes * MEMORY_SHARE) / MB)), processes: MAX_PROCESSES },
    diskFreeMbFloor: Math.max(1, Math.min(DISK_FLOOR_MB, Math.floor(floorMb))),
  };
}

/** The limits in force: those of the configuration, and for every other resource those of the safety net. */
export class LimitsInForce implements LimitSet {
  readonly resources: Limits;
  readonly diskFreeMbFloor: number | undefined;
  /** Limits of the configuration alone. */
  readonly configured: LimitSet;
  /** Limits of the safety net, without those that the configuration replaces. */
  readonly net: LimitSet;

  constructor(configured: LimitSet, safetyNet: LimitSet) {
    const entries = LIMIT_NAMES.filter((name) => configured.resources[name] === undefined).map(
      (name) => [name, safetyNet.resources[name]] as const,
    );
    this.configured = configured;
    this.net = {
      resources: Object.fromEntries(entries.filter(([, value]) => value !== undefined)),
      diskFreeMbFloor: configured.diskFreeMbFloor === undefined ? safetyNet.diskFreeMbFloor : undefined,
    };
    this.resources = { ...this.net.resources, ...configured.resources };
    this.diskFreeMbFloor = configured.diskFreeMbFloor ?? this.net.diskFreeMbFloor;
  }

  /** Whether the configuration limits everything that runs. The safety net does not count: nothing asked for it. */
  get isConfigured(): boolean {
    return hasLimits(this.configured.resources) || this.configured.diskFreeMbFloor !== undefined;
  }

  /**
   * Whether the configuration, or a request, has asked for limits of what runs with `limits`. What runs within the
   * safety net alone is started like any other program: in no namespace.
   */
  areAskedFor(limits: Limits): boolean {
    const { resources: net } = this.net;
    return this.isConfigured || LIMIT_NAMES.some((name) => limits[name] !== undefined && limits[name] !== net[name]);
  }
}
