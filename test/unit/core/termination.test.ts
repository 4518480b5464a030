import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { terminate } from '../../../src/core/signals.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A command that takes note of signals, and ends by one of them. */
function makeCommand(endsBy: string, reaches: (attempt: number) => boolean = () => true) {
  const signals: string[] = [];
  let end!: () => void;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const send = (signal: string) => {
    signals.push(signal);
    const reached = reaches(signals.length);
    if (reached && signal === endsBy) end();
    return Promise.resolve(reached);
  };
  return { signals, ended, end, send };
}

test.each([
  { endsBy: 'SIGINT', sent: ['SIGINT'], afterMs: 0 },
  { endsBy: 'SIGTERM', sent: ['SIGINT', 'SIGTERM'], afterMs: 1000 },
  { endsBy: 'SIGKILL', sent: ['SIGINT', 'SIGTERM', 'SIGKILL'], afterMs: 2000 },
])('a command that ends by $endsBy gets $sent, a second apart', async ({ endsBy, sent, afterMs }) => {
  const { signals, ended, send } = makeCommand(endsBy);
  const done = terminate(send, ended);
  await vi.advanceTimersByTimeAsync(afterMs);
  await done;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(signals).toEqual(sent);
});

test('SIGKILL is repeated until the command has ended', async () => {
  const { signals, ended, end, send } = makeCommand('never');
  const done = terminate(send, ended);
  await vi.advanceTimersByTimeAsync(4500);
  end();
  await done;
  expect(signals).toEqual(['SIGINT', 'SIGTERM', 'SIGKILL', 'SIGKILL', 'SIGKILL']);
});

test('a signal that reaches nobody is sent again soon: the command may not have started yet', async () => {
  const { signals, ended, send } = makeCommand('SIGINT', (attempt) => attempt > 2);
  const done = terminate(send, ended);
  await vi.advanceTimersByTimeAsync(100);
  await done;
  expect(signals).toEqual(['SIGINT', 'SIGINT', 'SIGINT']);
});

test('a command whose result never comes for another reason counts as ended', async () => {
  const done = terminate(() => Promise.resolve(false), Promise.reject(new Error('closed')));
  await done;
  expect(vi.getTimerCount()).toBe(0);
});
