import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { describe, expect, it, vi } from 'vitest';

import { CommandLifecycle, END_STEPS, PHASES } from '../../../../src/engine/command/command.js';

const PAGE = new URL('../../../../docs/develop/life-of-a-command.md', import.meta.url);

describe('the lifecycle of a command', () => {
  it('enters phases in one direction', () => {
    const lifecycle = new CommandLifecycle<string>();
    expect(lifecycle.phase).toBe('accepted');
    lifecycle.enter('reported');
    lifecycle.enter('started');
    expect([lifecycle.phase, lifecycle.has('started'), lifecycle.has('settled')]).toEqual(['reported', true, false]);
  });

  it('runs nothing that was taken back, not even by another one of the step', async () => {
    const lifecycle = new CommandLifecycle<string>();
    const done: string[] = [];
    const add = (name: string) => lifecycle.atEnd('answer', () => done.push(name));
    add('first');
    add('taken back')();
    const undo = lifecycle.atEnd('audit', () => {
      undo();
      done.push('own');
    });
    lifecycle.atEnd('audit', () => done.push('last'));
    lifecycle.settle('a');
    await nextTurn();
    expect(done).toEqual(['first', 'own', 'last']);
  });

  it('runs the end steps in their order, those before the answer at once and the others in the next turn', async () => {
    const lifecycle = new CommandLifecycle<string>();
    const done: string[] = [];
    for (const step of END_STEPS.toReversed()) lifecycle.atEnd(step, (outcome) => done.push(`${step} of ${outcome}`));
    lifecycle.settle('a');
    const answer = END_STEPS.indexOf('answer');
    const expected = END_STEPS.map((step) => `${step} of a`);
    expect(done).toEqual(expected.slice(0, answer));
    await expect(lifecycle.finished).resolves.toBe('a');
    expect([done.length, lifecycle.phase]).toEqual([answer, 'settled']);
    await nextTurn();
    expect([done, lifecycle.phase]).toEqual([expected, 'published']);
  });

  it('answers though a handler fails, runs the others, and lets the error be an uncaught one', async () => {
    vi.useFakeTimers({ toFake: ['setImmediate'] });
    const lifecycle = new CommandLifecycle<string>();
    const done: string[] = [];
    lifecycle.atEnd('limits', () => {
      throw new Error('no descriptor');
    });
    lifecycle.atEnd('limits', () => done.push('limits'));
    lifecycle.atEnd('audit', () => done.push('audit'));
    lifecycle.settle('a');
    await expect(lifecycle.finished).resolves.toBe('a');
    expect(() => vi.runAllTimers()).toThrow('no descriptor');
    vi.runAllTimers();
    vi.useRealTimers();
    expect([done, lifecycle.phase]).toEqual([['limits', 'audit'], 'published']);
  });

  it('is drawn in the documentation with all phases and steps, in order', () => {
    const page = readFileSync(PAGE, 'utf8');
    const listed = [...page.matchAll(/^\| `([a-z_]+)` /gm)].map(([, name]) => name);
    expect(listed).toEqual([...PHASES, ...END_STEPS]);
  });
});
