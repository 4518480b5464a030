import { describe, expect, it } from 'vitest';

import { Semaphore } from '../../../../src/services/llm/shell-providers.js';

const never = new AbortController().signal;
const LIMITS = { concurrency: 2, queueLimit: 2 };

describe('Semaphore', () => {
  it('lets so many through, the others in their order', async () => {
    const turnstile = new Semaphore('tool');
    const passed: number[] = [];
    const enter = async (number: number) => {
      const leave = await turnstile.acquire(LIMITS, never);
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
    (await turnstile.acquire({ concurrency: 1, queueLimit: 0 }, never))();
  });

  it('refuses when too many wait', async () => {
    const turnstile = new Semaphore('tool');
    const leave = await turnstile.acquire({ concurrency: 1, queueLimit: 0 }, never);
    await expect(turnstile.acquire({ concurrency: 1, queueLimit: 0 }, never)).rejects.toMatchObject({
      code: 'LLM_RATE_LIMITED',
    });
    leave();
  });

  it('forgets who gives up', async () => {
    const turnstile = new Semaphore('tool');
    const limits = { concurrency: 1, queueLimit: 1 };
    const leave = await turnstile.acquire(limits, never);
    const controller = new AbortController();
    const waiting = turnstile.acquire(limits, controller.signal);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    const next = turnstile.acquire(limits, never);
    leave();
    (await next)();
    await expect(turnstile.acquire(limits, controller.signal)).rejects.toThrow('enough');
  });
});
