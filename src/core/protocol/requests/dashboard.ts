import { z } from 'zod';

import { ROLE_NAMES } from '../../principal.js';
import { MAX_SIGN_IN_MS, MIN_SIGN_IN_MS } from '../bounds.js';
import { defineRequests } from '../define-requests.js';
import { optional, timestamp } from '../fields.js';

/** The requests about the dashboard. */
export const dashboardRequests = defineRequests({
  create_dashboard_link: {
    summary:
      'Makes a link that signs a browser in to the dashboard. It counts once, for a minute. Its page has no more rights than its maker, and ends with the token of its maker.',
    role: 'viewer',
    recorded: 'each',
    route: 'here',
    repeat: 'never',
    example: { role: 'viewer', expires_in_ms: 3_600_000 },
    input: () =>
      z.strictObject({
        role: optional(z.enum(ROLE_NAMES)).describe('Role of the page; that of the maker by default'),
        expires_in_ms: optional(z.int().min(MIN_SIGN_IN_MS).max(MAX_SIGN_IN_MS)).describe(
          'How long the page stays signed in; 12 hours by default',
        ),
      }),
    output: () =>
      z.object({
        path: z.string().describe('Path of the link, to append to the address of the daemon'),
        expires_at: timestamp.describe('When the link counts no longer'),
        role: z.enum(ROLE_NAMES),
      }),
  },
});
