import { expect, it } from 'vitest';

import { judgeTimeout } from '../../../../src/core/limit-judge.js';

it.each([
  [600_000, 539_999, undefined],
  [600_000, 540_000, 540],
  [600_000, 600_500, 600.5],
  [120_000, 60_000, 60],
  // So short that nobody waits for a warning.
  [119_999, 119_000, undefined],
])('a time-out of %d ms, after %d ms', (timeoutMs, ageMs, observed) => {
  const near = { resource: 'timeout_seconds', limit: timeoutMs / 1000, observed };
  expect(judgeTimeout(timeoutMs, ageMs)).toEqual(observed === undefined ? undefined : near);
});
