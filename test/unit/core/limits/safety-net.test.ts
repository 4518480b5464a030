import { describe, expect, it } from 'vitest';

import { LimitsInForce, MB, NO_LIMITS, safetyNetFor } from '../../../../src/core/limits.js';

const GB = 1024 * MB;

describe('the safety net', () => {
  it.each([
    ['a server', { memoryBytes: 64 * GB, diskBytes: 500 * GB }, 32 * 1024, 512],
    ['a container with little memory', { memoryBytes: 512 * MB, diskBytes: 40 * GB }, 256, 512],
    ['a small disk', { memoryBytes: 2 * GB, diskBytes: 4 * GB }, 1024, 204],
    ['a tiny machine', { memoryBytes: MB, diskBytes: 4 * MB }, 1, 1],
    ['a disk of unknown size', { memoryBytes: 8 * GB, diskBytes: undefined }, 4096, 512],
  ])('of %s: half of the memory, 1024 processes, a floor of free space', (_, size, memoryMb, floorMb) => {
    expect(safetyNetFor(size)).toEqual({
      resources: { memory_mb: memoryMb, processes: 1024 },
      diskFreeMbFloor: floorMb,
    });
  });
});

describe('limits in force', () => {
  const net = { resources: { memory_mb: 4096, processes: 1024 }, diskFreeMbFloor: 512 };

  it('are those of the configuration, and the rest of the safety net', () => {
    const limits = new LimitsInForce(
      { resources: { memory_mb: 8000, cpu_seconds: 5 }, diskFreeMbFloor: undefined },
      net,
    );
    expect(limits.resources).toEqual({ memory_mb: 8000, cpu_seconds: 5, processes: 1024 });
    expect(limits.net).toEqual({ resources: { processes: 1024 }, diskFreeMbFloor: 512 });
    expect(limits.diskFreeMbFloor).toBe(512);
  });

  it.each([
    ['the safety net alone', NO_LIMITS, net.resources, false],
    ['a request for less', NO_LIMITS, { ...net.resources, processes: 10 }, true],
    ['a request for a limit that the net lacks', NO_LIMITS, { ...net.resources, cpu_seconds: 1 }, true],
    ['a configured limit', { resources: { processes: 1024 }, diskFreeMbFloor: undefined }, net.resources, true],
    ['a configured floor', { resources: {}, diskFreeMbFloor: 100 }, net.resources, true],
  ])('%s: asked for or not', (_, configured, limits, isAskedFor) => {
    expect(new LimitsInForce(configured, net).areAskedFor(limits)).toBe(isAskedFor);
  });
});
