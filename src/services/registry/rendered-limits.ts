import { type Limits, LIMIT_NAMES, type LimitName } from '../../core/limits/limits.js';
import type { CommandResult, EffectiveLimits } from '../../core/protocol/results.js';
import type { Breach, Kill, ResourceUse } from '../../engine/command/resource-use.js';

/** Limits as they hold, for the wire. */
export const renderLimits = (limits: Limits): EffectiveLimits =>
  Object.fromEntries(LIMIT_NAMES.map((name) => [name, limits[name] ?? null])) as Record<LimitName, number | null>;

/** What a command has used, for the wire. */
export const renderUse = ({
  cpuMs,
  peakMemoryBytes,
  peakTasks,
  writtenBytes,
}: ResourceUse): CommandResult['resource_usage'] => ({
  cpu_ms: cpuMs === null ? null : Math.round(cpuMs * 1000) / 1000,
  peak_memory_bytes: peakMemoryBytes,
  peak_processes: peakTasks,
  written_bytes: writtenBytes,
});

/** Digits behind the point of what was observed: limits may be fractions. */
const round = (value: number): number => Math.round(value * 1000) / 1000;

/** A limit that was exceeded or is near, for the wire. */
export const renderBreach = ({ resource, limit, observed }: Breach): Breach => ({
  resource,
  limit,
  observed: round(observed),
});

/** What was ended for a limit, for the wire. */
export const renderKill = ({ breach, peak, killedPids }: Kill): NonNullable<CommandResult['limit']> => ({
  ...renderBreach(breach),
  peak: round(peak),
  killed_pids: [...killedPids],
});
