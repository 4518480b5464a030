import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Heartbeat } from '../../../src/engine/system/heartbeat.js';

const INTERVAL_MS = 1000;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('a heartbeat', () => {
  it('beats at its start, then once in each interval, and never after its end', async () => {
    const beat = vi.fn(() => Promise.resolve());
    const heartbeat = new Heartbeat(INTERVAL_MS, beat);
    await heartbeat.start();
    expect(beat).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(3 * INTERVAL_MS);
    expect(beat).toHaveBeenCalledTimes(4);
    await heartbeat[Symbol.asyncDispose]();
    await vi.advanceTimersByTimeAsync(3 * INTERVAL_MS);
    expect(beat).toHaveBeenCalledTimes(4);
  });

  it('beats at once when it is asked to, and once more when that is during a beat', async () => {
    let finish: () => void = () => undefined;
    const beat = vi.fn(() => new Promise<void>((resolve) => (finish = resolve)));
    const heartbeat = new Heartbeat(INTERVAL_MS, beat);
    const started = heartbeat.start();
    finish();
    await started;
    heartbeat.hasten();
    await vi.advanceTimersByTimeAsync(0);
    expect(beat).toHaveBeenCalledTimes(2);
    heartbeat.hasten();
    heartbeat.hasten();
    await vi.advanceTimersByTimeAsync(0);
    expect(beat, 'one at a time').toHaveBeenCalledTimes(2);
    finish();
    await vi.advanceTimersByTimeAsync(0);
    expect(beat).toHaveBeenCalledTimes(3);
    finish();
    await vi.advanceTimersByTimeAsync(INTERVAL_MS - 1);
    expect(beat).toHaveBeenCalledTimes(3);
    const ended = heartbeat[Symbol.asyncDispose]();
    await ended;
  });
});
