import { describe, expect, it } from 'vitest';

import {
  parseCpuTicks,
  parseField,
  parseLoad,
  parseMemory,
  parseNetBytes,
} from '../../../../src/engine/platform/linux/process-table.js';

describe('the texts of /proc', () => {
  it('/proc/stat: guests are part of user time, waiting for disks is idle', () => {
    const text = 'cpu  100 10 20 700 30 4 6 2 50 5\ncpu0 1 1 1 1 1 1 1 1 1 1\n';
    expect(parseCpuTicks(text)).toEqual({ busy: 142, total: 872 });
    expect(parseCpuTicks('')).toBeUndefined();
  });

  it('/proc/net/dev: all interfaces but the loopback', () => {
    const text = [
      'Inter-|   Receive                                                |  Transmit',
      ' face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed',
      '    lo: 9999 1 0 0 0 0 0 0 9999 1 0 0 0 0 0 0',
      '  eth0: 1000 1 0 0 0 0 0 0 200 1 0 0 0 0 0 0',
      'wlan0:30 1 0 0 0 0 0 0 4 1 0 0 0 0 0 0',
    ].join('\n');
    expect(parseNetBytes(text)).toEqual({ received: 1030, sent: 204 });
    expect(parseNetBytes('')).toEqual({ received: 0, sent: 0 });
  });

  it('/proc/meminfo: what the kernel can free is not used', () => {
    const text = 'MemTotal:        8000 kB\nMemFree:          100 kB\nMemAvailable:    6000 kB\n';
    expect(parseMemory(text)).toEqual({ total: 8000 * 1024, used: 2000 * 1024 });
    expect(parseMemory('MemTotal: 1 kB\n')).toBeUndefined();
  });

  it('/proc/loadavg, and fields of control groups', () => {
    expect(parseLoad('1.25 0.5 0.1 1/200 42\n')).toBe(1.25);
    expect(parseField('usage_usec 12\nuser_usec 3\n', 'usage_usec')).toBe(12);
    expect(parseField('', 'inactive_file')).toBe(0);
  });
});
