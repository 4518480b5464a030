import { z } from 'zod';
import { count } from './fields.js';

/** Which clients need a token. */
export const AUTH_MODES = ['auto', 'token', 'none'] as const;

/** `auth`: authentication of clients. */
export const authSection = z.strictObject({
  mode: z
    .enum(AUTH_MODES, { error: `must be one of ${AUTH_MODES.join(', ')}` })
    .default('auto')
    .describe(
      'Who needs a token: auto (all but programs of the daemon’s own user on this machine), token (everybody) or none. Default: auto.',
    ),
  requests_per_second: count(
    { unit: 'requests', min: 1, max: 1_000_000 },
    500,
    'Requests that each token may make in a second on the average, and twice as many at once.',
  ),
  max_sessions_per_token: count(
    { unit: 'sessions', min: 1, max: 10_000 },
    64,
    'Sessions that each token may have open at a time, and commands without a session that it may have under way.',
  ),
});
