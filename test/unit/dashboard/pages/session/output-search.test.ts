import { expect, it } from 'vitest';

import { searchAll } from '../../../../../src/dashboard/pages/session/output-view.js';

it('lists 500 lines at most, where a slow daemon answers in parts', async () => {
  const shown: number[] = [];
  await searchAll(
    ({ from_offset: from, limit }) => {
      const matches = Array.from({ length: Math.min(limit, 300) }, (_, line) => ({
        offset: from + line,
        line,
        text: 'x',
      }));
      return Promise.resolve({ matches, scanned_to: from + 1000, lines: 1000, complete: false });
    },
    ({ matches }) => {
      shown.push(matches.length);
      return true;
    },
  );
  expect(shown).toEqual([300, 500]);
});
