import { z } from 'zod';
import { choice, count } from '../fields/fields.js';

/** `auth`: authentication of clients. */
export const authSection = z.strictObject({
  mode: choice(
    ['auto', 'token', 'none'],
    'auto',
    'Which clients need a token: `auto` (all but programs of the daemon’s own user on this machine), `token` (all) or `none`.',
    'restart',
  ),
  requests_per_second: count(
    { unit: 'requests', min: 1, max: 1_000_000 },
    500,
    'Average number of requests that each token may make in a second; twice as many may come at once.',
  ),
  max_sessions_per_token: count(
    { unit: 'sessions', min: 1, max: 10_000 },
    64,
    'Open sessions that each token may have, and running commands without a session.',
  ),
});
