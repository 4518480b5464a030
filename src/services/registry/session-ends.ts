import { KILLED_BY } from '../../core/limits/limits.js';
import type { EventPayload, SessionEndReason } from '../../core/protocol/results.js';
import { spanText } from '../../core/time.js';
import type { EndReason } from '../../engine/command/outcome.js';
import type { Kill } from '../../engine/command/resource-use.js';
import { renderKill } from './rendered-limits.js';

/** Bounds on the life of sessions, in milliseconds. */
export interface LifeLimits {
  readonly maxLifetimeMs: number;
  readonly idleTimeoutMs: number;
  readonly reconnectGraceMs: number;
}

/** Details for clients of a session that ends by a deadline. */
export const REASONS = {
  lifetime: ({ maxLifetimeMs }) => `it was open for ${spanText(maxLifetimeMs)} (session_max_lifetime)`,
  idle: ({ idleTimeoutMs }) => `nothing was run in it for ${spanText(idleTimeoutMs)} (session_idle_timeout)`,
  disconnected: ({ reconnectGraceMs }) =>
    `no client was connected to it for ${spanText(reconnectGraceMs)} (reconnect_grace)`,
} satisfies Partial<Record<SessionEndReason, (limits: LifeLimits) => string>>;

/** End reasons of a session's running command; by default, that a client has ended it. */
export const END_REASONS: Partial<Record<SessionEndReason, EndReason>> = {
  shutdown: { status: 'killed', killedBy: 'shutdown' },
};

/** What was ended for a limit, when that is why the session ends. */
export function killFields(
  reason: SessionEndReason,
  kill: Kill | undefined,
): Pick<EventPayload<'session_closed'>, 'killed_by' | 'limit'> {
  const isWhy = reason === 'limit' || reason === 'failed';
  return kill && isWhy ? { killed_by: KILLED_BY[kill.breach.resource], limit: renderKill(kill) } : {};
}
