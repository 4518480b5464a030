import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { ChangeTracker } from '../../../../src/core/change-tracker.js';

/** An item with a value that changes. */
interface Item {
  value: number;
}

type Step = { readonly item: number; readonly value: number } | 'read' | { readonly retire: number };

const step = fc.oneof(
  fc.record({ item: fc.nat(4), value: fc.nat(3) }),
  fc.constant('read' as const),
  fc.record({ retire: fc.nat(4) }),
);

describe('ChangeTracker', () => {
  it('tells each reader of every change once, with the newest value', () => {
    fc.assert(
      fc.property(fc.array<Step>(step, { maxLength: 60 }), (steps) => {
        const tracker = new ChangeTracker<Item>();
        const items: Item[] = Array.from({ length: 5 }, () => ({ value: 0 }));
        const retired = new Set<Item>();
        const told = new Map<Item, number>();
        const expected = new Map<Item, number>();
        let revision = 0;
        const read = () => {
          const changed = tracker.changedSince(revision);
          expect(new Set(changed).size).toBe(changed.length);
          for (const item of changed) {
            expect(told.get(item)).not.toBe(item.value);
            told.set(item, item.value);
          }
          revision = tracker.revision;
          expect(tracker.changedSince(revision)).toEqual([]);
          expect(told).toEqual(expected);
        };
        for (const next of steps) {
          if (next === 'read') read();
          else if ('retire' in next) {
            const item = items[next.retire]!;
            if (expected.has(item)) retired.add(item);
            tracker.retire(item);
          } else {
            const item = items[next.item]!;
            if (retired.has(item)) continue;
            // A value that comes back between two reads is no news, but may be told again.
            if (told.get(item) === next.value && item.value !== next.value) continue;
            item.value = next.value;
            expected.set(item, next.value);
            tracker.note(item, [next.value]);
          }
        }
        read();
      }),
    );
  });

  it('keeps the last changes of so many retired items', () => {
    const tracker = new ChangeTracker<Item>();
    for (let value = 0; value < 3000; value += 1) {
      const item = { value };
      tracker.note(item, [value]);
      tracker.retire(item);
    }
    const changed = tracker.changedSince(0);
    expect(changed).toHaveLength(1000);
    expect(changed[0]?.value).toBe(2999);
  });
});
