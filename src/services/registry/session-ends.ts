import { KILLED_BY } from '../../core/limits/limits.js';
import type { EventPayload, SessionEndReason } from '../../core/protocol/results.js';
import type { EndReason } from '../../engine/command/outcome.js';
import type { Kill } from '../../engine/command/resource-use.js';
import { renderKill } from './rendered-limits.js';

/** Details for clients of a session that ends by a deadline. */
export const REASONS: Record<
  Exclude<SessionEndReason, 'client' | 'failed' | 'limit' | 'shutdown' | 'restarted' | 'node_lost'>,
  string
> = {
  lifetime: 'it reached its maximum lifetime (session_max_lifetime)',
  idle: 'nothing was run in it for too long (session_idle_timeout)',
  disconnected: 'no client was connected to it for too long (reconnect_grace)',
};

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
