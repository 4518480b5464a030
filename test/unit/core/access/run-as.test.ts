import { expect, it } from 'vitest';

import { isUserName, storedToken } from '../../../../src/core/token.js';

const TOKEN = {
  name: 'a',
  role: 'agent',
  created_at: '2026-01-01T00:00:00.000Z',
  expires_at: null,
  sha256: 'a'.repeat(64),
};

it.each([
  ['alice', true],
  ['_build-1.x', true],
  ['machine$', true],
  ['1000', false],
  ['-x', false],
  ['a b', false],
  ['a:0', false],
  ['', false],
])('%j can be the name of a user: %s', (name, isName) => {
  expect(isUserName(name)).toBe(isName);
  expect(storedToken.safeParse({ ...TOKEN, run_as: name }).success).toBe(isName);
});

it('a stored token with a user of its own has the role agent', () => {
  expect(storedToken.safeParse(TOKEN).success).toBe(true);
  expect(storedToken.safeParse({ ...TOKEN, role: 'admin', run_as: 'alice' }).error?.issues[0]?.message).toBe(
    'run_as needs the role agent',
  );
});
