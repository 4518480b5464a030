import { z } from 'zod';

import { ROLE_NAMES } from './principal.js';

/** Names of tokens, which appear in logs and on command lines. */
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** Requirement for the name of a token, for messages. */
export const TOKEN_NAME_RULE = '1 to 64 letters, digits or any of . _ -, beginning with a letter or digit';

export const isTokenName = (text: string): boolean => NAME.test(text);

/** Names in a user database; a number is a user id, not a name. Source: useradd(8). */
const USER_NAME = /^[A-Za-z_][\w.-]{0,31}\$?$/;

export const isUserName = (text: string): boolean => USER_NAME.test(text);

/** The role of every token with a user of its own: others reach sessions of the daemon's user. */
export const RUN_AS_ROLE = 'agent';

/** Stored form of a token: everything except the secret itself. `id` is the name of its file. */
export const storedToken = z
  .strictObject({
    name: z.string().regex(NAME),
    role: z.enum(ROLE_NAMES),
    created_at: z.iso.datetime(),
    /** Null for a token without expiry. */
    expires_at: z.iso.datetime().nullable(),
    /** SHA-256 of the secret, in hexadecimal digits. */
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    /** Name of the user as which its processes run; the daemon's own without one. */
    run_as: z.string().regex(USER_NAME).optional(),
  })
  .refine(({ role, run_as }) => run_as === undefined || role === RUN_AS_ROLE, `run_as needs the role ${RUN_AS_ROLE}`);

type StoredToken = z.output<typeof storedToken>;

export type Token = StoredToken & { readonly id: string };

const SECOND_MS = 1000;
const UNITS_MS: Readonly<Record<string, number>> = {
  s: SECOND_MS,
  m: 60 * SECOND_MS,
  h: 3600 * SECOND_MS,
  d: 86_400 * SECOND_MS,
  w: 604_800 * SECOND_MS,
};

/** Longest lifetime of a token, in milliseconds: a hundred years; a longer one is a mistake. */
const MAX_LIFE_MS = 36_525 * 86_400 * SECOND_MS;

/**
 * Parses the lifetime of a token (`90d`, `12h`).
 * @returns milliseconds, or undefined when the text is not a time span
 */
export function readLife(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  const ms = Number(digits) * (UNITS_MS[unit] ?? NaN);
  return ms > 0 && ms <= MAX_LIFE_MS ? ms : undefined;
}

/** Whether a token has expired at a given time, in milliseconds since 1970. */
export const hasExpired = ({ expires_at: end }: Token, now: number): boolean => end !== null && Date.parse(end) <= now;

/** A token as the nodes of a cluster share it, or the mark that it was revoked, which stays. */
export const sharedToken = z.object({
  /** Rises with each change of the token. */
  version: z.int().min(1),
  /** Null when it was revoked. */
  token: storedToken.nullable(),
});

export type SharedToken = z.output<typeof sharedToken>;

/** Ids of shared tokens: each is the name of a file on every node, and must not lead out of its directory. */
export const sharedTokenId = z.string().regex(/^\w[\w.-]{0,127}$/);

export type SharedTokenMap = ReadonlyMap<string, SharedToken>;

/**
 * Whether a state of a token counts, and not another one: the newer one. Of two changes at the same time, a revocation
 * counts; the other rule is arbitrary, so that all nodes decide alike.
 */
export function supersedes(one: SharedToken, other: SharedToken | undefined): boolean {
  if (!other) return true;
  if (one.version !== other.version) return one.version > other.version;
  if (!one.token || !other.token) return one.token !== other.token && !one.token;
  return one.token.sha256 > other.token.sha256;
}

/**
 * What has changed in the files of a node since they were the same as its shared tokens.
 * @param tokens all that the files have
 */
export function changesSince(known: SharedTokenMap, tokens: readonly Token[]): SharedTokenMap {
  const changes = new Map<string, SharedToken>();
  const present = new Set<string>();
  for (const { id, ...token } of tokens) {
    present.add(id);
    const { version = 0, token: before } = known.get(id) ?? {};
    if (!before || !isSame(before, token)) changes.set(id, { version: version + 1, token });
  }
  for (const [id, { version, token }] of known)
    if (token && !present.has(id)) changes.set(id, { version: version + 1, token: null });
  return changes;
}

const isSame = (one: StoredToken, other: StoredToken): boolean =>
  one.sha256 === other.sha256 &&
  one.role === other.role &&
  one.name === other.name &&
  one.expires_at === other.expires_at &&
  one.run_as === other.run_as;
