import { describe, expect, it } from 'vitest';

import { Turnstile } from '../../../src/llm/turnstile.js';

const never = new AbortController().signal;
const LIMITS = { concurrency: 2, queueLimit: 2 };

describe('Turnstile', () => {
  it('lets so many through, the others in their order', async () => {
    const turnstile = new Turnstile('tool');
    const passed: number[] = [];
    const enter = async (number: number) => {
      const leave = await turnstile.enter(LIMITS, never);
      passed.push(number);
      return leave;
    };
    const first = await enter(1);
    const second = await enter(2);
    const [third, fourth] = [enter(3), enter(4)];
    expect(passed).toEqual([1, 2]);
    first();
    // Leaving twice is leaving once.
    first();
    (await third)();
    expect(passed).toEqual([1, 2, 3]);
    (await fourth)();
    second();
    expect(passed).toEqual([1, 2, 3, 4]);
    (await turnstile.enter({ concurrency: 1, queueLimit: 0 }, never))();
  });

  it('refuses when too many wait', async () => {
    const turnstile = new Turnstile('tool');
    const leave = await turnstile.enter({ concurrency: 1, queueLimit: 0 }, never);
    await expect(turnstile.enter({ concurrency: 1, queueLimit: 0 }, never)).rejects.toMatchObject({
      code: 'LLM_RATE_LIMITED',
    });
    leave();
  });

  it('forgets who gives up', async () => {
    const turnstile = new Turnstile('tool');
    const limits = { concurrency: 1, queueLimit: 1 };
    const leave = await turnstile.enter(limits, never);
    const controller = new AbortController();
    const waiting = turnstile.enter(limits, controller.signal);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    const next = turnstile.enter(limits, never);
    leave();
    (await next)();
    await expect(turnstile.enter(limits, controller.signal)).rejects.toThrow('enough');
  });
});
