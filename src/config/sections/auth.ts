import { z } from 'zod';

/** Who needs a token. */
export const AUTH_MODES = ['auto', 'token', 'none'] as const;

/** `auth`: who may connect. */
export const authSection = z.strictObject({
  mode: z
    .enum(AUTH_MODES, { error: `must be one of ${AUTH_MODES.join(', ')}` })
    .default('auto')
    .describe(
      'Who needs a token: auto (all but programs of the daemon’s own user on this machine), token (everybody) or none. Default: auto.',
    ),
});
