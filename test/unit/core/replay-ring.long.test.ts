import { expect, it } from 'vitest';

import { ReplayRing } from '../../../src/core/replay-ring.js';
import { HANG_MS } from '../../support/hang.js';

it('a ring stays fast with many events kept and many dropped', () => {
  const ring = new ReplayRing<number>(200_000);
  const started = performance.now();
  for (let i = 0; i < 1_000_000; i++) ring.push(i, 2);
  expect(ring.since(0).events).toHaveLength(100_000);
  expect(performance.now() - started).toBeLessThan(HANG_MS);
});
