import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { ReplayRing } from '../../../src/core/replay-ring.js';

describe('ReplayRing', () => {
  it('numbers events from 0 and replays them from any of them', () => {
    const ring = new ReplayRing<string>(100);
    expect(ring.nextSeq).toBe(0);
    expect(['a', 'b', 'c'].map((event) => ring.push(event, 10))).toEqual([0, 1, 2]);
    expect(ring.nextSeq).toBe(3);
    const [b, c] = [
      { seq: 1, event: 'b' },
      { seq: 2, event: 'c' },
    ];
    expect(ring.since(1)).toEqual({ events: [b, c], gap: null });
    expect(ring.since(2)).toEqual({ events: [c], gap: null });
  });

  it('has nothing, and misses nothing, from the next event on', () => {
    const ring = new ReplayRing<string>(100);
    expect(ring.since(0)).toEqual({ events: [], gap: null });
    ring.push('a', 1);
    expect(ring.since(1)).toEqual({ events: [], gap: null });
    expect(ring.since(1000)).toEqual({ events: [], gap: null });
  });

  it('drops the oldest beyond the budget, and says which are missing', () => {
    const ring = new ReplayRing<string>(20);
    for (const event of ['a', 'b', 'c', 'd']) ring.push(event, 10);
    const events = [
      { seq: 2, event: 'c' },
      { seq: 3, event: 'd' },
    ];
    expect(ring.since(0)).toEqual({ events, gap: { fromSeq: 0, toSeq: 1 } });
    expect(ring.since(1)).toEqual({ events, gap: { fromSeq: 1, toSeq: 1 } });
    expect(ring.since(2)).toEqual({ events, gap: null });
  });

  it('keeps nothing before an event larger than the budget, so that what is kept has no hole', () => {
    const ring = new ReplayRing<string>(20);
    ring.push('a', 10);
    ring.push('huge', 21);
    expect(ring.since(0)).toEqual({ events: [], gap: { fromSeq: 0, toSeq: 1 } });
    ring.push('c', 20);
    expect(ring.since(0)).toEqual({ events: [{ seq: 2, event: 'c' }], gap: { fromSeq: 0, toSeq: 1 } });
  });

  it('keeps nothing with a budget of 0', () => {
    const ring = new ReplayRing<string>(0);
    expect(ring.push('empty', 0)).toBe(0);
    expect(ring.since(0)).toEqual({ events: [], gap: { fromSeq: 0, toSeq: 0 } });
    expect(ring.nextSeq).toBe(1);
  });

  it('keeps exactly the longest run up to the newest that fits', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(30), { maxLength: 60, size: 'max' }),
        fc.nat(100),
        fc.nat(40),
        (sizes, budget, fromSeq) => {
          const ring = new ReplayRing<number>(budget);
          for (const size of sizes) ring.push(size, size);
          let oldest = sizes.length;
          for (let left = budget; oldest > 0; oldest--) {
            left -= Math.max(1, sizes[oldest - 1]!);
            if (left < 0) break;
          }
          const wanted = sizes.map((event, seq) => ({ seq, event })).slice(Math.max(oldest, fromSeq));
          expect(ring.since(fromSeq)).toEqual({
            events: wanted,
            gap: fromSeq < oldest ? { fromSeq, toSeq: oldest - 1 } : null,
          });
        },
      ),
    );
  });
});
