import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { changesSince, type SharedToken, sharedTokenId, supersedes, type Token } from '../../../../src/core/token.js';

const token = (id: string, secret = 'a'): Token => ({
  id,
  name: id,
  role: 'agent',
  created_at: '2026-01-01T00:00:00.000Z',
  expires_at: null,
  sha256: secret.repeat(64),
});
const shared = (version: number, secret: string | undefined): SharedToken => {
  const { id: _id, ...facts } = token('x', secret);
  return { version, token: secret === undefined ? null : facts };
};

describe('two states of a token', () => {
  const states = fc
    .record({ version: fc.integer({ min: 1, max: 3 }), secret: fc.constantFrom('a', 'b', undefined) })
    .map(({ version, secret }) => shared(version, secret));

  it('come to the same end on all nodes, in whatever order they learn of them', () => {
    const newest = (all: readonly SharedToken[]) =>
      all.reduce<SharedToken | undefined>((best, one) => (supersedes(one, best) ? one : best), undefined);
    fc.assert(
      fc.property(fc.array(states, { minLength: 1, maxLength: 5 }), (all) => {
        expect(newest([...all].reverse())).toEqual(newest(all));
      }),
    );
  });

  it('count as newer by their version; a revocation wins', () => {
    expect(supersedes(shared(2, 'a'), shared(1, undefined))).toBe(true);
    expect(supersedes(shared(1, undefined), shared(1, 'b'))).toBe(true);
    expect(supersedes(shared(1, 'b'), shared(1, undefined))).toBe(false);
    expect(supersedes(shared(1, 'a'), shared(1, 'a'))).toBe(false);
  });
});

describe('changes of the files of a node', () => {
  it('are tokens that were made, changed and revoked', () => {
    const known = new Map([
      ['kept', shared(4, 'a')],
      ['rotated', shared(1, 'a')],
      ['revoked', shared(2, 'a')],
      ['gone', shared(3, undefined)],
    ]);
    const named = (id: string, secret?: string): Token => ({ ...token('x', secret), id });
    const changes = changesSince(known, [named('kept'), named('rotated', 'b'), named('made')]);
    expect([...changes].map(([id, { version, token: now }]) => [id, version, now?.sha256[0]])).toEqual([
      ['rotated', 2, 'b'],
      ['made', 1, 'a'],
      ['revoked', 3, undefined],
    ]);
  });
});

describe('the id of a token', () => {
  it.each(['token_1', 'token_abc-DEF', 'made-by-hand.old'])('may be %s', (id) => {
    expect(sharedTokenId.safeParse(id).success).toBe(true);
  });

  it.each(['', '.', '..', '../token', 'a/b', '/etc/x', '-x', '.hidden', 'a\\b', 'a\nb', 'x'.repeat(200)])(
    'cannot be %j: it leads elsewhere',
    (id) => {
      expect(sharedTokenId.safeParse(id).success).toBe(false);
    },
  );
});
