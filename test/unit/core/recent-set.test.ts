import { expect, it } from 'vitest';

import { RecentSet } from '../../../src/core/replay-ring.js';

it('keeps the values added last, at least as many as asked for and less than twice as many', () => {
  const recent = new RecentSet<number>(3);
  for (let value = 0; value < 100; value += 1) {
    recent.add(value);
    const kept = Array.from({ length: value + 1 }, (_, index) => index).filter((index) => recent.has(index));
    expect(kept.length).toBeGreaterThanOrEqual(Math.min(3, value + 1));
    expect(kept.length).toBeLessThan(7);
    expect(kept.at(-1)).toBe(value);
    expect(kept).toEqual(kept.map((_, index) => value - kept.length + 1 + index));
  }
});
