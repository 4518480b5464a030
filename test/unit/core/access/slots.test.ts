import { describe, expect, it } from 'vitest';

import { Slots } from '../../../../src/core/rate-limits.js';

describe('slots', () => {
  it('are bounded for each key, and for all', () => {
    const slots = new Slots({ perKey: 2, total: 3 });
    const release = slots.take('a');
    expect(slots.limitFor('a')).toBeUndefined();
    slots.take('a');
    expect(slots.limitFor('a')).toBe('perKey');
    expect(slots.limitFor('b')).toBeUndefined();
    slots.take('b');
    expect(slots.limitFor('b')).toBe('total');
    release();
    expect(slots.limitFor('a')).toBeUndefined();
  });

  it('are given back once, however often that is said', () => {
    const slots = new Slots({ perKey: 1, total: 1 });
    const release = slots.take('a');
    release();
    release();
    slots.take('a');
    expect(slots.limitFor('a')).toBe('total');
  });
});
