import { z } from 'zod';

import { ROLE_NAMES } from './roles.js';

/** Names of tokens: they stand in logs and on command lines. */
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** What a name of a token has to be, for messages. */
export const TOKEN_NAME_RULE = '1 to 64 letters, digits or any of . _ -, beginning with a letter or digit';

/** Whether a token may have this name. */
export const isTokenName = (text: string): boolean => NAME.test(text);

/** A token as it is stored: everything but the secret itself. `id` is the name of its file. */
export const storedToken = z.strictObject({
  name: z.string().regex(NAME),
  role: z.enum(ROLE_NAMES),
  created_at: z.iso.datetime(),
  /** Null for a token that never expires. */
  expires_at: z.iso.datetime().nullable(),
  /** SHA-256 of the secret, in hexadecimal digits. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

/** A token as the daemon knows it. */
export type Token = z.output<typeof storedToken> & { readonly id: string };

const SECOND_MS = 1000;
const UNITS_MS: Readonly<Record<string, number>> = {
  s: SECOND_MS,
  m: 60 * SECOND_MS,
  h: 3600 * SECOND_MS,
  d: 86_400 * SECOND_MS,
  w: 604_800 * SECOND_MS,
};

/** Longest life that can be asked for, in milliseconds: a hundred years, beyond which it is a slip. */
const MAX_LIFE_MS = 36_525 * 86_400 * SECOND_MS;

/** Reads how long a token lives (`90d`, `12h`): milliseconds, or undefined when it is no such span. */
export function readLife(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  const ms = Number(digits) * (UNITS_MS[unit] ?? NaN);
  return ms > 0 && ms <= MAX_LIFE_MS ? ms : undefined;
}

/** Whether a token has expired by this time, in milliseconds since 1970. */
export const hasExpired = ({ expires_at: end }: Token, now: number): boolean => end !== null && Date.parse(end) <= now;
