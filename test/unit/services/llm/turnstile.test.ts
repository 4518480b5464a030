import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { describe, expect, it } from 'vitest';

import { ShellCatalogue } from '../../../../src/services/llm/shell-catalogue.js';
import { Semaphore, ShellProviders } from '../../../../src/services/llm/shell-providers.js';
import { shellSettings } from '../../../support/llm/llm-settings.js';

const never = new AbortController().signal;
const nextTurn = () => new Promise((resolve) => void setImmediate(resolve));
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

  it('lets nobody in beyond a limit that was lowered', async () => {
    const semaphore = new Semaphore('tool');
    const [first, second] = [await semaphore.acquire(LIMITS, never), await semaphore.acquire(LIMITS, never)];
    const entered: number[] = [];
    const lowered = { concurrency: 1, queueLimit: 2 };
    const third = semaphore.acquire(lowered, never).then((release) => {
      entered.push(3);
      return release;
    });
    first();
    await nextTurn();
    expect(entered).toEqual([]);
    second();
    (await third)();
  });

  it('lets those that wait in first when the limit was raised', async () => {
    const semaphore = new Semaphore('tool');
    const entered: number[] = [];
    const enter = async (number: number, concurrency: number) => {
      const release = await semaphore.acquire({ concurrency, queueLimit: 2 }, never);
      entered.push(number);
      return release;
    };
    const first = await enter(1, 1);
    const second = enter(2, 1);
    const third = enter(3, 2);
    (await second)();
    (await third)();
    expect(entered).toEqual([1, 2, 3]);
    first();
  });
});

describe('a call that waits for a tool', () => {
  it('runs into its time-out, also after a garbage collection', async () => {
    setFlagsFromString('--expose_gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const settings = () => ({
      concurrency: 0,
      queueLimit: 1,
      skipCli: false,
      shellProviders: { busy: shellSettings({ command: process.execPath }) },
    });
    const catalogue = new ShellCatalogue(settings as never, '');
    const shells = new ShellProviders({ catalogue, settings } as never);
    const question = {
      messages: [{ role: 'user', content: 'hello' }],
      model: undefined,
      cwd: '/',
      timeoutMs: 100,
      isStreamed: false,
      signal: never,
    } as const;
    const asking = shells.ask('busy', question, () => undefined);
    const failed = expect(asking).rejects.toMatchObject({ code: 'LLM_TIMEOUT' });
    await nextTurn();
    collectGarbage();
    await failed;
  });
});
