import { describe, expect, it } from 'vitest';

import type { ProcessEntry, Processes } from '../../../../src/engine/platform/platform.js';
import { ProcessSnapshot, takeSnapshot, withFirstOrigins } from '../../../../src/engine/process/process-snapshot.js';

const entryOf = (pid: number, parent = 1, startTicks = pid) => ({ pid, parent, startTicks }) as ProcessEntry;

/** A platform with these processes, by default without origins. */
const platformWith = (entries: readonly ProcessEntry[], more: Partial<Processes> = {}) =>
  ({
    pids: () => entries.map(({ pid }) => pid),
    read: (pid: number) => entries.find((entry) => entry.pid === pid),
    list: () => [...entries],
    originOf: () => undefined,
    listMs: () => 0,
    ...more,
  }) as unknown as Processes;

describe('origins', () => {
  it('are those that a process has shown first', () => {
    const shown = ['i.s1.0', 'changed'];
    const { originOf } = withFirstOrigins(platformWith([], { originOf: () => shown.shift() }));
    expect([originOf(entryOf(7)), originOf(entryOf(7))]).toEqual(['i.s1.0', 'i.s1.0']);
    expect(originOf(entryOf(7, 1, 900))).toBe('changed');
  });

  it('are asked for again as long as a process shows none', () => {
    const shown = [undefined, 'i.s1.0'];
    const { originOf } = withFirstOrigins(platformWith([], { originOf: () => shown.shift() }));
    expect([originOf(entryOf(7)), originOf(entryOf(7))]).toEqual([undefined, 'i.s1.0']);
  });

  it('are read once for a snapshot, and with the list where a program lists processes', async () => {
    let isAsking = false;
    const asked: boolean[] = [];
    const ask = <T>(question: () => T): Promise<T> => {
      isAsking = true;
      const answer = question();
      isAsking = false;
      return Promise.resolve(answer);
    };
    const originOf = ({ pid }: { readonly pid: number }) => {
      asked.push(isAsking);
      return `i.s${pid}.0`;
    };
    const snapshot = await takeSnapshot(
      platformWith([entryOf(7), entryOf(8)], { ask, originOf, listMs: () => 1 }),
      'new',
    );
    expect([...snapshot.all()].map((entry) => snapshot.originOf(entry))).toEqual(['i.s7.0', 'i.s8.0']);
    expect(asked).toEqual([true, true]);
  });
});

describe('a snapshot', () => {
  const entries = [entryOf(1, 0), entryOf(2, 1), entryOf(3, 2), entryOf(9, 1)];

  it('has all descendants of a process, also of one that has ended', () => {
    const snapshot = new ProcessSnapshot(platformWith(entries), [...entries, entryOf(5, 4)]);
    expect([...snapshot.descendantsOf([2, 4])].toSorted()).toEqual([2, 3, 4, 5]);
  });

  it('reads only what is asked for', () => {
    const read: number[] = [];
    const platform = platformWith(entries, {
      read: (pid) => {
        read.push(pid);
        return entries.find((entry) => entry.pid === pid);
      },
    });
    expect(new ProcessSnapshot(platform).of([3, 4])).toEqual([entries[2]]);
    expect(read).toEqual([3, 4]);
  });
});
