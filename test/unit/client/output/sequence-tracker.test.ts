import { describe, expect, test } from 'vitest';

import { SequenceTracker } from '../../../../src/client/event-router.js';

describe('the numbers of a session’s events', () => {
  test('come one after the other', () => {
    const tracker = new SequenceTracker(0);
    expect([0, 1, 2].map((seq) => tracker.accept(seq))).toEqual(Array(3).fill({ isDuplicate: false }));
    expect(tracker.next).toBe(3);
  });

  test('begin with whatever comes first when nothing is known', () => {
    const tracker = new SequenceTracker();
    expect(tracker.next).toBeUndefined();
    expect(tracker.accept(17)).toEqual({ isDuplicate: false });
    expect(tracker.next).toBe(18);
  });

  test('that were seen are duplicates', () => {
    const tracker = new SequenceTracker(5);
    expect(tracker.accept(4)).toEqual({ isDuplicate: true });
    expect(tracker.accept(5)).toEqual({ isDuplicate: false });
    expect(tracker.accept(5)).toEqual({ isDuplicate: true });
    expect(tracker.next).toBe(6);
  });

  test('that are skipped make a gap, told once', () => {
    const tracker = new SequenceTracker(2);
    expect(tracker.accept(6)).toEqual({ isDuplicate: false, gap: { fromSeq: 2, toSeq: 5 } });
    expect(tracker.skip(5)).toBeUndefined();
    expect(tracker.next).toBe(7);
  });

  test('that are announced as left out are a gap, told once', () => {
    const tracker = new SequenceTracker(2);
    expect(tracker.skip(5)).toEqual({ fromSeq: 2, toSeq: 5 });
    expect(tracker.skip(5)).toBeUndefined();
    expect(tracker.skip(7)).toEqual({ fromSeq: 6, toSeq: 7 });
    expect(tracker.accept(7)).toEqual({ isDuplicate: true });
    expect(tracker.accept(8)).toEqual({ isDuplicate: false });
  });

  test('before the first that is known are nobody’s gap', () => {
    const tracker = new SequenceTracker();
    expect(tracker.skip(9)).toBeUndefined();
    expect(tracker.next).toBe(10);
  });
});
