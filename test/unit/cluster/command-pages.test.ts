import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { cursorOf, mergePages } from '../../../src/cluster/gather.js';

/** Commands of a node, the newest first: their places, and when they were accepted. */
type Journal = readonly { readonly number: number; readonly accepted_at: string }[];

/** A page of a node, as its own `list_commands` answers. */
function pageOf(node: string, journal: Journal, before: string | undefined, limit: number) {
  const found = journal.filter(({ number }) => before === undefined || number < Number(before));
  const commands = found.slice(0, limit);
  return { node, reply: { commands, next: found.length > limit ? String(commands.at(-1)?.number) : null } } as never;
}

/** All pages of a list over several nodes, one after another. */
function readAll(journals: ReadonlyMap<string, Journal>, limit: number): string[][] {
  const pages: string[][] = [];
  for (let before: string | null = ''; before !== null;) {
    const asked = [...journals].flatMap(([node, journal]) => {
      const own = before === '' || before === null ? undefined : cursorOf(before, node);
      return before !== '' && own === undefined ? [] : [pageOf(node, journal, own, limit)];
    });
    const { commands, next } = mergePages(asked, { limit });
    pages.push(commands.map(({ accepted_at: at, number }) => `${at} ${number}`));
    before = next;
  }
  return pages;
}

describe('the commands of several nodes', () => {
  it('are one list, the newest first, with a cursor for each node that has more', () => {
    const one = [
      { number: 7, accepted_at: '4' },
      { number: 5, accepted_at: '1' },
    ];
    const other = [{ number: 9, accepted_at: '3' }];
    const { commands, next } = mergePages([pageOf('a', one, undefined, 2), pageOf('b-1', other, undefined, 2)], {
      limit: 2,
    });
    expect(commands.map(({ number }) => number)).toEqual([7, 9]);
    expect(next).toBe('a:6');
    expect([cursorOf('a:6+c-1:12', 'c-1'), cursorOf('a:6', 'b-1')]).toEqual(['12', undefined]);
  });

  it('have the usual number without a limit', () => {
    const journal = Array.from({ length: 60 }, (_, index) => ({ number: 60 - index, accepted_at: '1' }));
    const { commands, next } = mergePages([pageOf('a', journal, undefined, 50)], { limit: undefined });
    expect([commands.length, next]).toEqual([50, 'a:11']);
  });

  const times = fc.array(fc.integer({ min: 0, max: 99 }), { maxLength: 12 });
  it('come once each, in the order of one daemon, page by page', () => {
    const lists = fc.array(times, { minLength: 1, maxLength: 4 });
    const follow = (nodes: number[][], limit: number) => {
      let number = 0;
      const journals = new Map(
        nodes.map((own, index) => [
          `node-${index}`,
          own
            .sort((one, two) => one - two)
            .map((at) => ({ number: (number += 1), accepted_at: String(at).padStart(2, '0') }))
            .reverse(),
        ]),
      );
      const pages = readAll(journals, limit);
      const all = [...journals.values()].flat().map(({ accepted_at: at }) => at);
      expect(pages.flat().map((entry) => entry.slice(0, 2))).toEqual(all.sort().reverse());
      expect(new Set(pages.flat()).size).toBe(all.length);
      for (const page of pages.slice(0, -1)) expect(page).toHaveLength(limit);
    };
    fc.assert(fc.property(lists, fc.integer({ min: 1, max: 7 }), follow));
  });
});
