import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { choosePlace, leastFull, type PlacementNode, rendezvous } from '../../../src/cluster/placement.js';

const label = fc.constantFrom('a', 'b');
const node = fc.record({
  name: fc.stringMatching(/^[a-z]{1,4}$/),
  isLive: fc.boolean(),
  isDraining: fc.boolean(),
  labels: fc.dictionary(label, label),
  load: fc.nat({ max: 10 }),
  capacity: fc.integer({ min: 1, max: 10 }),
});
const nodes = fc.uniqueArray(node, { selector: ({ name }) => name, maxLength: 8 });

const canTake = ({ isLive, isDraining, load, capacity, labels }: PlacementNode, wanted: Record<string, string>) =>
  isLive && !isDraining && load < capacity && Object.entries(wanted).every(([name, value]) => labels[name] === value);

describe('the place of something new', () => {
  it('is one of those that can take it, and the least full of them', () => {
    fc.assert(
      fc.property(nodes, fc.dictionary(label, label), (all, labels) => {
        const able = all.filter((one) => canTake(one, labels));
        const chosen = choosePlace(all, { labels });
        expect(chosen === undefined).toBe(able.length === 0);
        if (!chosen) return;
        expect(able).toContain(chosen);
        const least = Math.min(...able.map(({ load, capacity }) => load / capacity));
        expect(chosen.load / chosen.capacity).toBe(least);
      }),
    );
  });

  it('is the preferred one while that carries at most one more than the least full one', () => {
    fc.assert(
      fc.property(nodes, fc.nat(), (all, index) => {
        const preferred = all[index % Math.max(all.length, 1)]?.name;
        const least = choosePlace(all, {});
        const near = all.find((one) => one.name === preferred && canTake(one, {}));
        const isNear = near !== undefined && least !== undefined && near.load <= least.load + 1;
        expect(choosePlace(all, { preferred })).toBe(isNear ? near : least);
        expect(choosePlace(all, { preferred, key: 'k' })).toBe(choosePlace(all, { key: 'k' }));
      }),
    );
  });

  it('is the same for the same key, in whatever order the nodes are and however full', () => {
    fc.assert(
      fc.property(nodes, fc.string(), (all, key) => {
        const free = all.map((one) => ({ ...one, load: 0 }));
        const name = choosePlace(free, { key })?.name;
        const others = [...free].reverse().map((one) => ({ ...one, load: one.capacity - 1 }));
        expect(choosePlace(others, { key })?.name).toBe(name);
      }),
    );
  });

  it('stays for a key when another node goes', () => {
    fc.assert(
      fc.property(nodes, fc.string(), fc.nat(), (all, key, index) => {
        const chosen = choosePlace(all, { key });
        const others = all.filter((one) => one !== chosen);
        if (others.length === 0 || !chosen) return;
        const gone = others[index % others.length];
        expect(
          choosePlace(
            all.filter((one) => one !== gone),
            { key },
          ),
        ).toBe(chosen);
      }),
    );
  });

  it('spreads keys over the nodes', () => {
    const free = ['a', 'b', 'c'].map((name) => ({
      ...{ name, isLive: true, isDraining: false, labels: {}, load: 0, capacity: 1000 },
    }));
    const counts = new Map<string, number>();
    for (let i = 0; i < 3000; i += 1) {
      const name = choosePlace(free, { key: `command-${i}` })?.name ?? '';
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    for (const count of counts.values()) expect(count).toBeGreaterThan(850);
    expect(counts.size).toBe(3);
  });
});

describe('the least full nodes', () => {
  it('are those that would be chosen one after the other, and the preferred one', () => {
    fc.assert(
      fc.property(nodes, fc.dictionary(label, label), fc.nat(), fc.nat({ max: 8 }), (all, labels, index, count) => {
        const preferred = all[index % Math.max(all.length, 1)]?.name;
        const chosen: PlacementNode[] = [];
        for (let i = 0; i < count; i += 1) {
          const left = all.filter((one) => !chosen.includes(one));
          const next = choosePlace(left, { labels });
          if (next) chosen.push(next);
        }
        const near = all.filter((one) => one.name === preferred && canTake(one, labels) && !chosen.includes(one));
        const found = leastFull(all, { labels, preferred }, count);
        expect(new Set(found)).toEqual(new Set([...chosen, ...near]));
        expect(found).toHaveLength(chosen.length + near.length);
      }),
    );
  });
});

describe('the gateway to which a key belongs', () => {
  const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,4}$/), { minLength: 1, maxLength: 6 });

  it('does not depend on the order of the gateways, and stays when another one leaves', () => {
    fc.assert(
      fc.property(fc.string(), names, (key, all) => {
        const owner = rendezvous(key, all);
        expect(all).toContain(owner);
        expect(rendezvous(key, all.toReversed())).toBe(owner);
        for (const gone of all.filter((name) => name !== owner))
          expect(
            rendezvous(
              key,
              all.filter((name) => name !== gone),
            ),
          ).toBe(owner);
      }),
    );
    expect(rendezvous('key', [])).toBeUndefined();
  });
});
