import { expect, it } from 'vitest';

import { Repeats } from '../../../../src/core/audit.js';

it('a burst is recorded by its first event, and the next one a second later has the number of those between', () => {
  const repeats = new Repeats();
  expect(repeats.countOf('a', 0)).toBe(0);
  for (const at of [1, 500, 999]) expect(repeats.countOf('a', at)).toBeUndefined();
  expect(repeats.countOf('b', 999)).toBe(0);
  expect(repeats.countOf('a', 1000)).toBe(3);
  expect(repeats.countOf('a', 1001)).toBeUndefined();
});
