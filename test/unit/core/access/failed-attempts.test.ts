import { describe, expect, it } from 'vitest';

import { FailedAttempts } from '../../../../src/core/rate-limits.js';

describe('wrong tokens', () => {
  it('five within a minute are too many until the first of them is a minute old', () => {
    const attempts = new FailedAttempts();
    for (const at of [0, 10_000, 20_000, 30_000]) attempts.note('192.0.2.1', at);
    expect(attempts.waitOf('192.0.2.1', 30_000)).toBe(0);
    attempts.note('192.0.2.1', 40_000);
    expect(attempts.waitOf('192.0.2.1', 40_000)).toBe(20_000);
    expect(attempts.waitOf('192.0.2.2', 40_000)).toBe(0);
    expect(attempts.waitOf('192.0.2.1', 60_000)).toBe(0);
    attempts.note('192.0.2.1', 60_000);
    expect(attempts.waitOf('192.0.2.1', 60_000)).toBe(10_000);
  });

  it('of ten thousand other peers push out the oldest', () => {
    const attempts = new FailedAttempts();
    for (let count = 0; count < 5; count += 1) attempts.note('old', 0);
    for (let number = 0; number < 9_999; number += 1) attempts.note(String(number), 1);
    expect(attempts.waitOf('old', 1)).toBeGreaterThan(0);
    attempts.note('one more', 1);
    expect(attempts.waitOf('old', 1)).toBe(0);
  });
});
