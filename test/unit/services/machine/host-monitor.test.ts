import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { HostMonitor, HostReader, type HostReading } from '../../../../src/services/machine/host-monitor.js';

let reads = 0;
const counts = () => ({ sessions: 1, commands_running: 0 });
/** Half of two CPUs, and 100 bytes each way in a second. */
const reader = {
  refresh: () => Promise.resolve(),
  read: (): HostReading => {
    reads += 1;
    const ticks = performance.now();
    return {
      at: new Date(),
      ticks,
      cpu: { busy: ticks / 2, total: ticks },
      cpus: 2,
      load1: 1,
      memory: { total: 100, used: 40 },
      disk: undefined,
      net: { received: ticks / 10, sent: ticks / 10 },
    };
  },
};

let monitor: HostMonitor;
beforeEach(async () => {
  vi.useFakeTimers();
  reads = 0;
  monitor = new HostMonitor(reader as never, counts);
  await monitor.start();
});
afterEach(() => {
  monitor[Symbol.dispose]();
  vi.useRealTimers();
});

describe('the measured values of the machine', () => {
  it('are kept for an hour, every ten seconds', () => {
    vi.advanceTimersByTime(2 * 3_600_000);
    const history = monitor.history({});
    expect(history.at).toHaveLength(360);
    expect(history).toMatchObject({ interval_ms: 10_000, memory_bytes: 100, disk_bytes: null, cpus: 2 });
    expect(new Set(history.cpu_percent)).toEqual(new Set([50]));
    expect(new Set(history.net_rx_bytes_s)).toEqual(new Set([100]));
    const since = history.at[350]!;
    expect(monitor.history({ since }).at).toEqual(history.at.slice(351));
  });

  it('have no rates in the first entry', () => {
    expect(monitor.history({})).toMatchObject({ cpu_percent: [null], net_tx_bytes_s: [null], sessions: [1] });
  });

  it('are read once a second for subscribers, however many there are', () => {
    const before = reads;
    const numbers = new Set<number>();
    for (let tick = 0; tick < 40; tick += 1) {
      vi.advanceTimersByTime(250);
      numbers.add(monitor.live().number);
    }
    expect(numbers.size).toBe(10);
    // One of these was for the history.
    expect(reads - before).toBe(11);
    expect(monitor.live().entry.cpu_percent).toBe(50);
  });
});

describe('the reader of the machine', () => {
  it('goes on after a reading that has failed, which is nobody else’s error', async () => {
    const refresh = vi.fn(() => Promise.reject(new Error('EMFILE')));
    const read = () => ({ cpu: undefined, cpus: 2, load1: 0, memory: { total: 1, used: 1 }, net: undefined });
    const machine = new HostReader('/', { read, refresh } as never);
    await machine.refresh();
    await machine.refresh();
    expect(refresh).toHaveBeenCalledTimes(2);
  });
});
