import { describe, expect, it } from 'vitest';

import {
  countOf,
  either,
  formatBytes,
  formatDuration,
  formatPercent,
  formatRate,
  formatRelative,
} from '../../../../src/dashboard/format.js';

describe('formats of the dashboard', () => {
  it.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1 KB'],
    [1536, '1.5 KB'],
    [150 * 1024, '150 KB'],
    [3.25 * 1024 ** 3, '3.3 GB'],
    [-5, '0 B'],
  ])('formats %d bytes', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it.each([
    [12, '12 ms'],
    [4250, '4.2 s'],
    [59_999, '59 s'],
    [187_000, '3 min 07 s'],
    [8_100_000, '2 h 15 min'],
    [273_600_000, '3 d 4 h'],
  ])('formats a duration of %d ms', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it.each([
    [100_000, 'now'],
    [88_000, '12 s ago'],
    [340_000, 'in 4 min'],
    [-7_200_000, '2 h ago'],
  ])('formats %d at 100000', (at, text) => {
    expect(formatRelative(at, 100_000)).toBe(text);
  });

  it('formats rates, shares and counts', () => {
    expect([formatRate(2048), formatPercent(3.44), formatPercent(0), formatPercent(99.6)]).toEqual([
      '2 KB/s',
      '3.4 %',
      '0 %',
      '100 %',
    ]);
    expect([countOf(1, 'session'), countOf(1200, 'session'), either(['a']), either(['a', 'b', 'c'])]).toEqual([
      '1 session',
      '1,200 sessions',
      'a',
      'a, b or c',
    ]);
  });
});
