import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { type Stage, StageTimer } from '../../../../src/engine/system/stage-timer.js';

const FIRST_MS = 5;

let seen: string[];

const note = (name: string, again?: number): (() => number | undefined) => {
  return () => {
    seen.push(`${name} ${performance.now()}`);
    return again;
  };
};

beforeEach(() => {
  seen = [];
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'], now: 0 });
});

afterEach(() => {
  vi.useRealTimers();
});

describe('a timer with stages', () => {
  it('takes its first stage back when it begins again right before it', () => {
    using timer = new StageTimer(FIRST_MS, note('first'));
    vi.advanceTimersToNextTimer();
    timer.begin();
    vi.advanceTimersByTime(FIRST_MS - 1);
    expect(seen).toEqual([]);
    vi.advanceTimersByTime(FIRST_MS);
    expect(seen).toHaveLength(1);
  });

  it('runs its first stage once, a time after the last beginning', () => {
    using timer = new StageTimer(FIRST_MS, note('first'));
    vi.advanceTimersByTime(FIRST_MS - 1);
    timer.begin();
    vi.advanceTimersByTime(FIRST_MS - 1);
    expect(seen).toHaveLength(0);
    vi.advanceTimersByTime(20);
    expect(seen).toHaveLength(1);
    timer.begin();
    vi.advanceTimersByTime(20);
    expect(seen).toHaveLength(2);
  });

  it('runs later stages when they are due, and again where they say so', () => {
    using timer = new StageTimer(FIRST_MS, () => {
      timer.set([
        { dueAt: 100, run: note('once') },
        { dueAt: 50, run: note('repeated', 60) },
      ]);
    });
    vi.advanceTimersByTime(180);
    expect(seen).toEqual(['repeated 50', 'once 100', 'repeated 110', 'repeated 170']);
  });

  it('drops later stages at the end, at a beginning and when it is disposed of', () => {
    const later = () => [{ dueAt: performance.now() + 10, run: note('later') }];
    const timer = new StageTimer(FIRST_MS, () => undefined);
    timer.set(later());
    timer.end();
    timer.set(later());
    timer.begin();
    timer.set(later());
    timer[Symbol.dispose]();
    vi.advanceTimersByTime(100);
    expect([seen, vi.getTimerCount()]).toEqual([[], 0]);
  });

  it('brings a stage forward, but never back', () => {
    using timer = new StageTimer(FIRST_MS, () => undefined);
    const stage: Stage = { dueAt: 1000, run: note('stage') };
    timer.set([stage]);
    timer.bringForward(stage, 60);
    timer.bringForward(stage, 500);
    vi.advanceTimersByTime(2000);
    expect(seen).toEqual(['stage 60']);
  });

  it('a stage that throws keeps no other from running, and is run again', () => {
    using timer = new StageTimer(FIRST_MS, () => undefined);
    let throws = true;
    const run = () => {
      if (!throws) return note('failed before')();
      throws = false;
      throw new Error('no descriptor');
    };
    timer.set([
      { dueAt: 10, run },
      { dueAt: 10, run: note('other') },
    ]);
    expect(() => vi.advanceTimersByTime(10)).toThrow('no descriptor');
    vi.advanceTimersByTime(2000);
    expect(seen.map((line) => line.replace(/ \d+$/, ''))).toEqual(['other', 'failed before']);
  });

  it('a stage may end the others', () => {
    using timer = new StageTimer(FIRST_MS, () => undefined);
    const end = (): undefined => {
      timer.end();
    };
    timer.set([
      { dueAt: 10, run: end },
      { dueAt: 10, run: note('other') },
    ]);
    vi.advanceTimersByTime(100);
    expect(seen).toEqual([]);
  });
});
