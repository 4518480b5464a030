import { expect, it } from 'vitest';

import { Slices } from '../../../../src/engine/system/promises.js';

it('lets the event loop run when a slice is used up, and counts the work without the pauses', async () => {
  const slices = new Slices();
  const events: string[] = [];
  setImmediate(() => events.push('event'));
  for (let slice = 1; slice <= 3; slice += 1) {
    while (!slices.isOver) Math.random();
    await slices.next();
    expect(slices.isOver).toBe(false);
    expect(events).toEqual(['event']);
    expect(slices.usedMs).toBeGreaterThanOrEqual(4 * slice);
  }
});
