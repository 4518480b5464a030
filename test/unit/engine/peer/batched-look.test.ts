import { setImmediate as nextTurn } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { BatchedLook } from '../../../../src/engine/platform/peer.js';

/** A look whose ends the test decides; `begun` has the questions of each. */
function controlled() {
  const begun: (readonly number[])[] = [];
  const ends: ((answers: readonly string[] | Error) => void)[] = [];
  const looks = new BatchedLook<number, string>((questions) => {
    begun.push(questions);
    return new Promise((resolve, reject) => {
      ends.push((answers) => {
        if (answers instanceof Error) reject(answers);
        else resolve(answers);
      });
    });
  });
  return { begun, ends, looks };
}

describe('questions that are answered together', () => {
  it('wait for the next look when they come during one: no answer is older than its question', async () => {
    const { begun, ends, looks } = controlled();
    const first = looks.ask(1);
    const later = [looks.ask(2), looks.ask(3), looks.ask(2)];
    expect(begun).toEqual([[1]]);
    ends[0]?.(['one']);
    expect(await first).toBe('one');
    await nextTurn();
    expect(begun).toEqual([[1], [2, 3, 2]]);
    ends[1]?.(['two', 'three', 'two']);
    expect(await Promise.all(later)).toEqual(['two', 'three', 'two']);
  });

  it('fail together, and the next look is made all the same', async () => {
    const { ends, looks } = controlled();
    const [first, second] = [looks.ask(1), looks.ask(2)];
    ends[0]?.(new Error('no such table'));
    await expect(first).rejects.toThrow('no such table');
    await nextTurn();
    ends[1]?.(['two']);
    expect(await second).toBe('two');
  });
});
