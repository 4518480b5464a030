import { afterEach, expect, it, vi } from 'vitest';

import { Slices } from '../../../../src/engine/system/promises.js';

afterEach(() => {
  vi.restoreAllMocks();
});

it('lets the event loop run when a slice is used up, and counts the work without the pauses', async () => {
  let now = 1000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const slices = new Slices();
  now += 4;
  expect(slices.isOver).toBe(false);
  now += 1;
  expect([slices.isOver, slices.usedMs]).toEqual([true, 5]);
  setImmediate(() => {
    now += 100;
  });
  await slices.next();
  expect([slices.isOver, slices.usedMs]).toEqual([false, 5]);
  now += 3;
  expect(slices.usedMs).toBe(8);
});
