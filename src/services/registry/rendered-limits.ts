import { AdapterError } from '../../core/errors.js';
import {
  assertEnforceable,
  LIMIT_KEYS,
  LIMIT_NAMES,
  type LimitMechanismName,
  type LimitName,
  type Limits,
  type LimitsInForce,
  lowerLimits,
  type WarnedResource,
} from '../../core/limits.js';
import type { Log } from '../../core/log.js';
import type { LineLimits, OutputLimits } from '../../core/output/output-window.js';
import type { CommandRequest } from '../../core/protocol/requests.js';
import type { CommandResult, EffectiveLimits } from '../../core/protocol/results.js';
import type { Breach, Kill, ResourceUse } from '../../engine/command/resource-use.js';
import { nameWithoutLimits } from '../../engine/limits/mechanism.js';
import type { ChosenMechanism } from '../../engine/limits/probe.js';

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

type OutputOptions = NonNullable<CommandRequest['output']>;

/** The head gets a third of what is free, as in the defaults. */
const BEGIN_SHARE = 3;

/**
 * The output limits of a request. Sizes that were not given shrink to fit a smaller whole; sizes that were given have
 * to fit. Limits on lines replace the configured ones.
 * @throws AdapterError INVALID_REQUEST
 */
export function outputLimitsOf({ output }: Pick<CommandRequest, 'output'>, defaults: OutputLimits): OutputLimits {
  if (!output) return defaults;
  const lines = lineLimitsOf(output, defaults.lines);
  return { lines, maxLineLength: maxLineLengthOf(output, defaults), ...sizesOf(output, defaults, lines) };
}

/** Sizes in characters. Where no lines are wanted, no characters are kept for them. */
function sizesOf(output: OutputOptions, defaults: OutputLimits, lines: LineLimits | undefined) {
  const { begin_size: begin, end_size: end } = output;
  const given = sumOf(begin, end);
  const maxSize = output.max_size ?? Math.max(defaults.maxSize, given);
  if (given > maxSize) throw invalid(`begin_size + end_size (${given}) is more than max_size (${maxSize})`);
  if (begin === undefined && end === undefined && lines && isOneSided(lines)) {
    const beginSize = lines.beginLines === 0 ? 0 : maxSize;
    return { maxSize, beginSize, endSize: maxSize - beginSize };
  }
  const beginSize = begin ?? Math.min(defaults.beginSize, beginningOf(maxSize, end));
  return { maxSize, beginSize, endSize: end ?? Math.min(defaults.endSize, maxSize - beginSize) };
}

function lineLimitsOf(output: OutputOptions, defaults: LineLimits | undefined): LineLimits | undefined {
  const { max_lines: max, begin_lines: begin, end_lines: end } = output;
  if ([max, begin, end].every((each) => each === undefined)) return defaults;
  const given = sumOf(begin, end);
  const maxLines = max ?? given;
  if (given > maxLines) throw invalid(`begin_lines + end_lines (${given}) is more than max_lines (${maxLines})`);
  const beginLines = begin ?? beginningOf(maxLines, end);
  return { maxLines, beginLines, endLines: end ?? maxLines - beginLines };
}

const isOneSided = ({ beginLines, endLines }: LineLimits): boolean => beginLines === 0 || endLines === 0;

const sumOf = (begin = 0, end = 0): number => begin + end;

/** The beginning of a whole whose end is given, or not. */
const beginningOf = (whole: number, end: number | undefined): number =>
  end === undefined ? Math.floor(whole / BEGIN_SHARE) : whole - end;

/** Exact bytes have no clipped lines: the configured length does not hold for them. */
function maxLineLengthOf(output: OutputOptions, defaults: OutputLimits): number | undefined {
  if (output.encoding !== 'base64') return output.max_line_length ?? defaults.maxLineLength;
  if (output.max_line_length === undefined) return undefined;
  throw invalid('max_line_length would change the exact bytes that base64 gives: leave one of them out');
}

const invalid = (problem: string): AdapterError =>
  new AdapterError('INVALID_REQUEST', `output: ${problem}`, { details: { field: 'output' } });

/** Bounds of commands, from the configuration. */
export interface CommandLimits {
  /** Time-out of a command that asks for none. */
  readonly timeoutMs: number;
  /** The longest time-out. */
  readonly maxLifetimeMs: number;
  readonly queueLimit: number;
  readonly maxOneShots: number;
  /** Limits on the processes of a one-shot, or of a session, together. */
  readonly resources: Limits;
  /** Limits that the platform cannot enforce. */
  readonly unenforceable: readonly LimitName[];
  readonly output: OutputLimits;
  readonly spoolMaxBytes: number;
  readonly replayMaxBytes: number;
}

/**
 * The timeout of a request, or the configured one, in milliseconds.
 * @throws AdapterError INVALID_REQUEST when it is longer than the configuration allows
 */
export function timeoutOf(request: CommandRequest, { timeoutMs, maxLifetimeMs }: CommandLimits): number {
  for (const field of ['timeout_ms', 'no_output_timeout_ms'] as const) {
    if ((request[field] ?? 0) <= maxLifetimeMs) continue;
    const message = `${field}: at most ${maxLifetimeMs} ms (command_max_lifetime of the daemon)`;
    throw new AdapterError('INVALID_REQUEST', message, {
      details: { field, max: maxLifetimeMs, setting: 'command_max_lifetime' },
    });
  }
  return request.timeout_ms ?? timeoutMs;
}

/**
 * The resource limits of a session or of a one-shot, within those of the configuration.
 * @throws AdapterError INVALID_REQUEST when a limit is higher than the one in force, or cannot be enforced
 */
export function boundLimits(
  wanted: Limits | undefined,
  { resources, unenforceable }: Pick<CommandLimits, 'resources' | 'unenforceable'>,
): Limits {
  assertEnforceable(wanted, unenforceable);
  return lowerLimits(resources, wanted, 'configuration');
}

/**
 * The resource limits of a command: in a session only those of its request, for a one-shot all.
 * @param session limits of its session; undefined for a one-shot
 * @throws AdapterError INVALID_REQUEST when a limit is higher than the one in force, or cannot be enforced
 */
export function resourceLimitsOf(
  { limits: wanted }: Pick<CommandRequest, 'limits'>,
  session: Limits | undefined,
  { resources, unenforceable }: Pick<CommandLimits, 'resources' | 'unenforceable'>,
): Limits | undefined {
  if (!session) return boundLimits(wanted, { resources, unenforceable });
  assertEnforceable(wanted, unenforceable);
  return wanted && lowerLimits(session, wanted, 'session');
}

const MECHANISMS: Readonly<Record<LimitMechanismName, string>> = {
  cgroup2: 'the kernel (control groups, version 2)',
  cgroup1: 'the kernel (control groups, version 1)',
  pid_namespace: 'sampling the processes, in a PID namespace of each session',
  polling: 'sampling the processes',
};

/**
 * Logs how resource limits are enforced: one plain line at `info` if the configuration sets a limit, and the details
 * (mechanism, why better ones cannot be used, and the safety net) at `debug`. Warns of limits that cannot be enforced.
 */
export function logLimits(
  limits: LimitsInForce,
  { mechanism, rejected }: ChosenMechanism,
  unenforceable: readonly LimitName[],
  log: Log,
): void {
  const { name } = mechanism;
  if (limits.isConfigured) log.info(`resource limits are enforced by ${MECHANISMS[name]}`);
  for (const limit of unenforceable.filter((each) => limits.configured.resources[each] !== undefined)) {
    log.warn('a limit of the configuration cannot be enforced on this platform', { limit: LIMIT_KEYS[limit] });
  }
  log.debug('limit mechanism', { mechanism: name, without_limits: nameWithoutLimits(mechanism), rejected });
  log.debug('safety net', { ...limits.net.resources, disk_free_mb: limits.net.diskFreeMbFloor });
}
