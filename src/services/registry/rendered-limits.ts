import { type Limits, LIMIT_NAMES, type LimitName, type WarnedResource } from '../../core/limits/limits.js';
import type { CommandResult, EffectiveLimits } from '../../core/protocol/results.js';
import type { Breach, Kill, ResourceUse } from '../../engine/command/resource-use.js';

/** Renders limits in force for the wire. */
export const renderLimits = (limits: Limits): EffectiveLimits =>
  Object.fromEntries(LIMIT_NAMES.map((name) => [name, limits[name] ?? null])) as Record<LimitName, number | null>;

/** Renders the resource use of a command for the wire. */
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

/** Rounds an observed value to three decimals: limits may be fractions. */
const round = (value: number): number => Math.round(value * 1000) / 1000;

/** Renders a breach, or a limit that is nearly reached, for the wire. */
export const renderBreach = <R extends WarnedResource>({ resource, limit, observed }: Breach<R>): Breach<R> => ({
  resource,
  limit,
  observed: round(observed),
});

/** Renders what was ended for a limit, for the wire. */
export const renderKill = ({ breach, peak, killedPids }: Kill): NonNullable<CommandResult['limit']> => ({
  ...renderBreach(breach),
  peak: round(peak),
  killed_pids: [...killedPids],
});
