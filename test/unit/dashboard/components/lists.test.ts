import { describe, expect, it } from 'vitest';

import { formatSort, nextSort, parseSort, sorted, windowOf } from '../../../../src/dashboard/components/data-table.js';

describe('the window of a virtual list', () => {
  const view = { height: 100, rowHeight: 10, rows: 1000, overscan: 2 };

  it.each([
    [0, { from: 0, to: 13, above: 0, below: 9870 }],
    [500, { from: 48, to: 63, above: 480, below: 9370 }],
    [9900, { from: 988, to: 1000, above: 9880, below: 0 }],
    // The list has become shorter than what was scrolled to.
    [50_000, { from: 988, to: 1000, above: 9880, below: 0 }],
  ])('has the rows at %d px, and the height of the others', (scrollTop, window) => {
    expect(windowOf({ ...view, scrollTop })).toEqual(window);
  });

  it('has all rows of a short list', () => {
    expect(windowOf({ ...view, rows: 3, scrollTop: 0 })).toEqual({ from: 0, to: 3, above: 0, below: 0 });
  });
});

describe('sorting', () => {
  it('sorts texts with numbers by their numbers, and null last both ways', () => {
    const rows = ['s10', null, 's9', 'S1'];
    expect(sorted(rows, (row) => row, false)).toEqual(['S1', 's9', 's10', null]);
    expect(sorted(rows, (row) => row, true)).toEqual(['s10', 's9', 'S1', null]);
  });

  it('keeps an order in the address, and turns it round', () => {
    expect(parseSort('-cpu')).toEqual({ key: 'cpu', isDescending: true });
    expect(formatSort(nextSort(parseSort('cpu'), 'cpu'))).toBe('-cpu');
    expect(formatSort(nextSort(parseSort('-cpu'), 'cpu'))).toBe('cpu');
    expect(formatSort(nextSort(parseSort('-cpu'), 'owner'))).toBe('owner');
  });
});
