import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { type CastEvent, Timeline } from '../../../../src/core/recording.js';

const EVENTS: readonly CastEvent[] = [
  [0.5, 'm', 'make'],
  [0.5, 'o', 'a'],
  [10, 'i', 'typed'],
  [10.25, 'o', 'b'],
  [60, 'm', 'ls'],
  [61, 'o', 'c'],
];

describe('the times of a recording', () => {
  it('are those of its events', () => {
    const timeline = new Timeline(EVENTS);
    expect(timeline.durationMs).toBe(61_000);
    expect(timeline.marks).toEqual([
      { atMs: 500, label: 'make' },
      { atMs: 60_000, label: 'ls' },
    ]);
    expect(timeline.indexAfter(499)).toBe(0);
    expect(timeline.indexAfter(500)).toBe(2);
    expect(timeline.indexAfter(70_000)).toBe(6);
    expect(timeline.outputOf(0, 4)).toBe('ab');
  });

  it('have no longer pause than wanted', () => {
    const timeline = new Timeline(EVENTS, 1000);
    expect(timeline.marks.map(({ atMs }) => atMs)).toEqual([500, 2750]);
    expect(timeline.durationMs).toBe(3750);
  });

  it('are found by halves as one by one', () => {
    const seconds = fc.array(fc.nat({ max: 50 }), { maxLength: 30 }).map((all) => all.toSorted((a, b) => a - b));
    fc.assert(
      fc.property(seconds, fc.nat({ max: 60 }), (times, at) => {
        const timeline = new Timeline(times.map((time) => [time, 'o', 'x']));
        expect(timeline.indexAfter(at * 1000)).toBe(times.filter((time) => time <= at).length);
      }),
    );
  });
});
