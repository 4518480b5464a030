import { expect, it } from 'vitest';

import { spanText, until } from '../../../src/core/time.js';

it.each([
  [0, '0 s'],
  [940, '0.9 s'],
  [42_400, '42 s'],
  [600_000, '10 min'],
  [120 * 60_000, '120 min'],
  [24 * 3_600_000, '24 h'],
  [7 * 86_400_000, '7 d'],
])('spanText names %d ms in its largest fitting unit', (ms, text) => {
  expect(spanText(ms)).toBe(text);
});

it('until polls until something is so, or the time is over', async () => {
  let looks = 0;
  const isSo = () => (looks += 1) === 3;
  expect(await until(isSo, 1, 10_000)).toBe(true);
  expect(looks).toBe(3);
  expect(await until(() => false, 1, 0)).toBe(false);
});
