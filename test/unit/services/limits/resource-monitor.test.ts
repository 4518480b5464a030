import { afterEach, describe, expect, it, vi } from 'vitest';

import { type LimitTarget, UseMeter } from '../../../../src/engine/command/resource-use.js';
import type { GroupSample } from '../../../../src/engine/limits/mechanism.js';
import type { ProcessSnapshot } from '../../../../src/engine/process/process-snapshot.js';
import { NamespacePids } from '../../../../src/engine/process/find-processes.js';
import { ResourceMonitor } from '../../../../src/services/limits/resource-monitor.js';
import { eventually } from '../../../support/measure.js';

/** How long each sample takes, in milliseconds: on a machine whose CPUs are busy with something else. */
const SAMPLE_MS = 200;
const SAMPLE: GroupSample = { cpuMs: 0, memoryBytes: 0, tasks: 2, writtenBytes: 0, pids: [1, 2] };

/** A session with a background process, which is sampled again and again. */
const target = () =>
  ({
    group: { sample: () => SAMPLE, members: () => [1, 2], takeKernelActions: () => ({ kills: 0, refusedForks: 0 }) },
    limits: { memory_mb: 64 },
    own: [1],
    running: undefined,
    numbers: new NamespacePids(() => undefined),
  }) as unknown as LimitTarget;

const listener = { onNear: () => undefined, onUsage: () => undefined, wantedIntervalMs: () => undefined };

afterEach(() => {
  vi.useRealTimers();
});

describe('the resource monitor', () => {
  it('samples as often on a busy machine, where a sample takes long but little CPU time', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    const sample = vi.fn(async () => {
      await vi.advanceTimersByTimeAsync(SAMPLE_MS);
      return {} as ProcessSnapshot;
    });
    using monitor = new ResourceMonitor(
      '/',
      { sample, isEnforced: true } as never,
      () => ({ cpuWindowMs: 1000, diskFreeMbFloor: undefined }),
      { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() },
    );
    monitor.watch(target(), listener);
    await eventually(() => {
      expect(sample.mock.settledResults).toHaveLength(1);
    });
    const { length: before } = sample.mock.calls;
    monitor.watch(target(), listener);
    await vi.advanceTimersByTimeAsync(SAMPLE_MS);
    expect(sample.mock.calls.length).toBeGreaterThan(before);
  });

  it('says once that processes cannot be looked at, however often it tries, and once that they can again', async () => {
    let isBlind = true;
    const sample = vi.fn(() =>
      isBlind ? Promise.reject(new Error('EMFILE')) : Promise.resolve({} as ProcessSnapshot),
    );
    const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
    using monitor = new ResourceMonitor(
      '/',
      { sample, isEnforced: false } as never,
      () => ({ cpuWindowMs: 1000, diskFreeMbFloor: undefined }),
      log,
    );
    const watched = target();
    monitor.watch(watched, listener);
    await eventually(() => {
      monitor.hasten(watched);
      expect(sample.mock.settledResults.length).toBeGreaterThan(3);
    });
    expect(log.warn.mock.calls).toEqual([['processes could not be looked at', { error: 'Error: EMFILE' }]]);
    isBlind = false;
    await eventually(() => {
      monitor.hasten(watched);
      expect(log.info).toHaveBeenCalledTimes(1);
    });
    expect(log.warn).toHaveBeenCalledTimes(1);
  });

  it('looks again when a command has ended while the processes were walked through', async () => {
    const command = {
      id: 'c1',
      endReason: undefined,
      meter: new UseMeter(),
      spec: { timeoutMs: 1000 },
      ageMs: 0,
      atEnd: vi.fn(),
    };
    const watched = target();
    const others = [[1], [1, 2]];
    Object.assign(watched, { running: command, limits: {} });
    Object.assign(watched.group, { sample: () => ({ ...SAMPLE, pids: others.shift() ?? [1, 2] }) });
    const sample = vi.fn(() => {
      // What it leaves is started behind the walk.
      Object.assign(watched, { running: undefined });
      return Promise.resolve({} as ProcessSnapshot);
    });
    using monitor = new ResourceMonitor(
      '/',
      { sample, isEnforced: false } as never,
      () => ({ cpuWindowMs: 1000, diskFreeMbFloor: undefined }),
      { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() },
    );
    monitor.watch(watched, listener);
    await eventually(() => {
      expect(sample.mock.calls.length).toBeGreaterThan(2);
    });
  });

  it('samples first when a command has run for longer than a sample costs, where programs take it, and all sessions together', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    const asked: number[] = [];
    const seen = [0, 0];
    const sample = vi.fn(() => {
      asked.push(performance.now());
      return Promise.resolve({} as ProcessSnapshot);
    });
    const sessions = seen.map((_, index) => {
      const watched = target();
      const count = () => {
        seen[index]! += 1;
        return SAMPLE;
      };
      Object.assign(watched.group, { sample: count });
      return watched;
    });
    using monitor = new ResourceMonitor(
      '/',
      { sample, isEnforced: false, programMs: () => 20 } as never,
      () => ({ cpuWindowMs: 1000, diskFreeMbFloor: undefined }),
      { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() },
    );
    const start = performance.now();
    for (const watched of sessions) {
      monitor.watch(watched, listener);
      await vi.advanceTimersByTimeAsync(15);
    }
    await vi.advanceTimersByTimeAsync(20);
    expect([asked.map((at) => at - start), seen]).toEqual([[40], [1, 1]]);
  });

  it('keeps what the kernel has done to a command for which nothing had to be ended', async () => {
    const command = {
      id: 'c1',
      endReason: undefined,
      meter: new UseMeter(),
      spec: { timeoutMs: 1000 },
      ageMs: 0,
      atEnd: vi.fn(),
    };
    const actions = [
      { kills: 0, refusedForks: 0 },
      { kills: 1, refusedForks: 2 },
    ];
    const watched = target();
    Object.assign(watched, { running: command, limits: {} });
    Object.assign(watched.group, { takeKernelActions: () => actions.pop() ?? { kills: 0, refusedForks: 0 } });
    using monitor = new ResourceMonitor(
      '/',
      { sample: () => Promise.resolve({} as ProcessSnapshot), isEnforced: true } as never,
      () => ({ cpuWindowMs: 1000, diskFreeMbFloor: undefined }),
      { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() },
    );
    monitor.watch(watched, listener);
    await eventually(() => {
      expect(command.meter.kernel).toEqual({ kills: 1, refusedForks: 2 });
    });
  });
});
