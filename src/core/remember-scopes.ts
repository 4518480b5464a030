/** How long an approval may be remembered: until its session ends, for 60 minutes, or until it is revoked. */
export const REMEMBER_SCOPES = ['session', 'hour', 'always'] as const;

export type RememberScope = (typeof REMEMBER_SCOPES)[number];

/** Duration of the scope `hour`, in milliseconds. */
export const HOUR_MS = 3_600_000;
