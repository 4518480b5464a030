import { hasLimits, LIMIT_NAMES, type Limits, MB } from './limits.js';

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

/** No limit at all. */
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
