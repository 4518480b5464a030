import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editDistance, findNearest } from '../../../../src/core/nearest.js';

const KEYS = ['port', 'host', 'max_sessions', 'session_max_lifetime', 'shell'];

describe('the nearest name', () => {
  it.each([
    ['prt', 'port'],
    ['hots', 'host'],
    ['hot', 'host'],
    ['hosts', 'host'],
    ['max-sessions', 'max_sessions'],
    ['maxSessions', 'max_sessions'],
    ['MAX_SESSION', 'max_sessions'],
    ['session_max_lifetme', 'session_max_lifetime'],
    ['session_max', 'session_max_lifetime'],
    ['she', 'shell'],
    ['xyz', undefined],
    ['', undefined],
  ])('to %j is %j', (written, expected) => {
    expect(findNearest(written, KEYS)).toBe(expected);
  });
});

describe('the edit distance', () => {
  it.each([
    ['', '', 0],
    ['abc', 'abc', 0],
    ['', 'abc', 3],
    ['kitten', 'sitting', 3],
    ['flaw', 'lawn', 2],
    ['exce', 'exec', 1],
  ])('of %j and %j is %i', (a, b, expected) => {
    expect(editDistance(a, b)).toBe(expected);
  });

  it('is the same both ways, and no more than the longer of the two', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
        expect(editDistance(a, b)).toBe(editDistance(b, a));
        expect(editDistance(a, b)).toBeLessThanOrEqual(Math.max(a.length, b.length));
      }),
    );
  });
});
