import { describe, expect, it } from 'vitest';

import { type CountedProcess, InheritedCounter } from '../../../../src/core/usage-counters.js';

/** A process by pid, parent and count. */
const at = (pid: number, parent: number, value: number, startTicks = pid): CountedProcess => ({
  pid,
  parent,
  value,
  startTicks,
});

describe('a counter that parents take over', () => {
  it('counts once what one had whose parent has ended too, and for which another process waits', () => {
    const counter = new InheritedCounter();
    const [init, shell] = [at(1, 0, 0), at(2, 1, 0)];
    expect(counter.update([init, shell, at(3, 2, 0), at(4, 3, 100)], 1)).toBe(100);
    expect(counter.update([at(1, 0, 100), shell], 1)).toBe(100);
    expect(counter.update([at(1, 0, 100), at(2, 1, 7)], 1)).toBe(107);
  });

  it.each<[string, CountedProcess[][], number[]]>([
    ['grows with its processes', [[at(1, 0, 0)], [at(1, 0, 5)], [at(1, 0, 9)]], [0, 5, 9]],
    ['sums children', [[at(1, 0, 1), at(2, 1, 10)]], [11]],
    ['counts a child that was waited for once', [[at(1, 0, 0), at(2, 1, 10)], [at(1, 0, 10)]], [10, 10]],
    ['counts what it did after the last look', [[at(1, 0, 0), at(2, 1, 10)], [at(1, 0, 14)]], [10, 14]],
    ['keeps what an orphan had', [[at(1, 0, 0), at(2, 99, 10)], [at(1, 0, 0)]], [10, 10]],
    [
      'keeps it while others grow',
      [
        [at(1, 0, 0), at(2, 99, 10)],
        [at(1, 0, 3), at(3, 99, 10)],
        [at(1, 0, 3), at(4, 99, 10)],
      ],
      [10, 23, 33],
    ],
    [
      'counts a chain that ends in one moment once',
      [[at(1, 0, 0), at(2, 1, 0), at(3, 2, 10)], [at(1, 0, 10)]],
      [10, 10],
    ],
    [
      'does not take a new process for an old one',
      [
        [at(1, 0, 0), at(2, 99, 10)],
        [at(1, 0, 0), at(2, 99, 1, 7)],
      ],
      [10, 11],
    ],
    ['never falls', [[at(1, 0, 10)], [], [at(5, 0, 2)]], [10, 10, 12]],
  ])('%s', (_, looks, totals) => {
    const counter = new InheritedCounter();
    expect(looks.map((look) => counter.update(look))).toEqual(totals);
  });
});
