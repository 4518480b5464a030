import { z } from 'zod';

import { ROLE_NAMES } from '../../principal.js';
import { isTokenName, readLife, TOKEN_NAME_RULE } from '../../token.js';
import { defineRequests } from '../define-requests.js';
import { optional, timestamp } from '../fields.js';

/** Longest name or id of a token that is looked up, in characters. */
const MAX_NAME_LENGTH = 128;

/** A token without its secret. */
const tokenInfo = z.object({
  token_id: z.string(),
  name: z.string(),
  role: z.enum(ROLE_NAMES),
  run_as: z.string().optional().describe('User as which its processes run; left out for the user of the daemon'),
  created_at: timestamp,
  expires_at: timestamp.nullable().describe('Null for a token without an end'),
  connections: z.int().describe('Open connections with this token'),
});

/** A token in wire format. */
export type TokenInfo = z.output<typeof tokenInfo>;

const existing = z.strictObject({
  name_or_id: z.string().min(1).max(MAX_NAME_LENGTH).describe('Name or id of a token'),
});

const issued = z.object({
  token: tokenInfo,
  secret: z.string().describe('The text that a client connects with. It is not kept, and cannot be shown again'),
});

/** The requests about tokens. */
export const tokenRequests = defineRequests({
  list_tokens: {
    summary: 'Lists the tokens, those that have expired included.',
    role: 'admin',
    recorded: 'refusals',
    route: 'here',
    repeat: 'safe',
    example: {},
    input: () => z.strictObject({}),
    output: () => z.object({ tokens: z.array(tokenInfo) }),
  },
  create_token: {
    summary: 'Creates a token.',
    role: 'admin',
    recorded: 'each',
    route: 'here',
    repeat: 'never',
    example: { name: 'ci', role: 'agent', expires_in: '90d' },
    input: () =>
      z.strictObject({
        name: z
          .string()
          .refine(isTokenName, { error: `must be ${TOKEN_NAME_RULE}` })
          .describe(`A name for people: ${TOKEN_NAME_RULE}`),
        role: z.enum(ROLE_NAMES),
        expires_in: optional(
          z.string().refine((text) => readLife(text) !== undefined, {
            error: 'must be a whole number and a unit (s, m, h, d, w), up to a hundred years: 90d, 12h, 30m',
          }),
        ).describe('Its lifetime, such as `90d` or `12h`; without an end by default'),
      }),
    output: () => issued,
  },
  rotate_token: {
    summary: 'Replaces the secret of a token, and closes its connections.',
    role: 'admin',
    recorded: 'each',
    route: 'here',
    repeat: 'never',
    example: { name_or_id: 'ci' },
    input: () => existing,
    output: () => issued,
  },
  revoke_token: {
    summary: 'Deletes a token, and closes its connections.',
    role: 'admin',
    recorded: 'each',
    route: 'here',
    repeat: 'never',
    example: { name_or_id: 'ci' },
    input: () => existing,
    output: () => z.object({ token: tokenInfo }),
  },
});
