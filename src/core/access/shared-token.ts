import { z } from 'zod';

import { storedToken, type Token } from './token.js';

/** A token as the nodes of a cluster share it, or the mark that it was revoked, which stays. */
export const sharedToken = z.object({
  /** Rises with each change of the token. */
  version: z.int().min(1),
  /** Null when it was revoked. */
  token: storedToken.nullable(),
});

/** A token as the nodes of a cluster share it. */
export type SharedToken = z.output<typeof sharedToken>;

/** Ids of shared tokens: each is the name of a file on every node, and must not lead out of its directory. */
export const sharedTokenId = z.string().regex(/^\w[\w.-]{0,127}$/);

/** Shared tokens by their ids. */
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

const isSame = (one: Omit<Token, 'id'>, other: Omit<Token, 'id'>): boolean =>
  one.sha256 === other.sha256 &&
  one.role === other.role &&
  one.name === other.name &&
  one.expires_at === other.expires_at &&
  one.run_as === other.run_as;
