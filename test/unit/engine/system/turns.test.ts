import { setImmediate as turn } from 'node:timers/promises';

import { expect, it } from 'vitest';

import { Turns } from '../../../../src/engine/system/promises.js';

it.each([1, 2])('runs %i actions at once, in their order, also after one that fails', async (atOnce) => {
  const turns = new Turns(atOnce);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const results = [0, 1, 2, 3].map((number) =>
    turns.take(async () => {
      begun.push(number);
      await new Promise<void>((resolve) => ends.push(resolve));
      if (number === 0) throw new Error('failed');
      return number;
    }),
  );
  const settled = Promise.allSettled(results);
  for (let ended = 0; ended < 4; ended += 1) {
    await turn();
    expect(begun).toEqual([0, 1, 2, 3].slice(0, ended + atOnce));
    ends[ended]!();
  }
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
});
