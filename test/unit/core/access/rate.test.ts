import { describe, expect, it } from 'vitest';

import { TokenBucket } from '../../../../src/core/rate-limits.js';

const LIMIT = { perSecond: 10, burst: 3 };

describe('TokenBucket', () => {
  it('lets a burst happen, and then says how long to wait', () => {
    const meter = new TokenBucket(LIMIT, 0);
    expect([0, 0, 0, 0].map((now) => meter.take(LIMIT, now))).toEqual([0, 0, 0, 100]);
    expect(meter.take(LIMIT, 60)).toBe(40);
    expect(meter.take(LIMIT, 100)).toBe(0);
    expect(meter.take(LIMIT, 100)).toBe(100);
  });

  it('what is refused costs nothing: who waits as long as told gets in', () => {
    const meter = new TokenBucket(LIMIT, 0);
    let now = 0;
    for (let taken = 0; taken < 50; taken += 1) {
      for (let wait = meter.take(LIMIT, now); wait > 0; wait = meter.take(LIMIT, now)) now += wait;
    }
    expect(now).toBe(4700);
  });

  it('saves up no more than a burst, and follows a limit that changes', () => {
    const meter = new TokenBucket(LIMIT, 0);
    expect([1e9, 1e9, 1e9, 1e9].map((now) => meter.take(LIMIT, now))).toEqual([0, 0, 0, 100]);
    expect(meter.take({ perSecond: 1000, burst: 5 }, 1e9 + 1)).toBe(0);
  });
});
