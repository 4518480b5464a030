import { expect, it } from 'vitest';

import { ReplayRing } from '../../../src/core/replay-ring.js';
import { HANG_MS } from '../../support/hang.js';

it('a ring stays fast with many events kept and many dropped', { timeout: 10 * HANG_MS }, () => {
  const ring = new ReplayRing<number>(200_000);
  // With work for each kept event at each push, these were 10^11 steps.
  for (let i = 0; i < 1_000_000; i++) ring.push(i, 2);
  expect(ring.since(0).events).toHaveLength(100_000);
});
