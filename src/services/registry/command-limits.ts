import { AdapterError } from '../../core/errors.js';
import { assertEnforceable, type LimitName, type Limits, lowerLimits } from '../../core/limits/limits.js';
import type { OutputLimits } from '../../core/output/output-window.js';
import type { Request } from '../../core/protocol/requests.js';

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
export function timeoutOf(request: Request<'execute_command'>, { timeoutMs, maxLifetimeMs }: CommandLimits): number {
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
  { limits: wanted }: Pick<Request<'execute_command'>, 'limits'>,
  session: Limits | undefined,
  { resources, unenforceable }: Pick<CommandLimits, 'resources' | 'unenforceable'>,
): Limits | undefined {
  if (!session) return boundLimits(wanted, { resources, unenforceable });
  assertEnforceable(wanted, unenforceable);
  return wanted && lowerLimits(session, wanted, 'session');
}
