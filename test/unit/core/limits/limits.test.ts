import { describe, expect, it } from 'vitest';

import type { AdapterError } from '../../../../src/core/errors.js';
import { CpuWindow } from '../../../../src/core/usage-counters.js';
import {
  type Endable,
  Escalation,
  judgeFreeSpace,
  judgeUsage,
  nextPauseMs,
  type Pace,
  type Usage,
} from '../../../../src/core/limit-judge.js';
import { type Limits, lowerLimits, MB, stricterLimits } from '../../../../src/core/limits.js';

describe('limits that a client asks for', () => {
  it.each<[string, Limits, Limits | undefined, Limits]>([
    ['nothing: the configured ones hold', { memory_mb: 100 }, undefined, { memory_mb: 100 }],
    ['a lower one', { memory_mb: 100, processes: 9 }, { memory_mb: 50 }, { memory_mb: 50, processes: 9 }],
    ['the same', { memory_mb: 100 }, { memory_mb: 100 }, { memory_mb: 100 }],
    ['one where none is configured', {}, { cpu_seconds: 5 }, { cpu_seconds: 5 }],
    ['one that is left open', { disk_mb: 7 }, { disk_mb: undefined }, { disk_mb: 7 }],
  ])('%s', (_, bounds, wanted, expected) => {
    expect(lowerLimits(bounds, wanted, 'configuration')).toEqual(expected);
  });

  it.each([
    ['configuration', 'limits.memory_mb: at most 100 (memory_mb_limit)'],
    ['session', 'limits.memory_mb: at most 100 (what the session was opened with)'],
  ] as const)('higher than the %s allows: refused, with the bound', (boundBy, message) => {
    const ask = () => lowerLimits({ memory_mb: 100 }, { memory_mb: 100.5 }, boundBy);
    expect(ask).toThrow(message);
    try {
      ask();
    } catch (error) {
      expect((error as AdapterError).toBody()).toMatchObject({
        code: 'INVALID_REQUEST',
        details: { field: 'limits.memory_mb', max: 100 },
      });
    }
  });

  it('of two sets the stricter one holds, limit by limit', () => {
    const some = { memory_mb: 5, processes: 10, disk_mb: undefined };
    expect(stricterLimits(some, { memory_mb: 6, processes: 3, cpu_percent: 50 })).toEqual({
      memory_mb: 5,
      processes: 3,
      cpu_percent: 50,
    });
  });
});

describe('judging', () => {
  const NOTHING: Usage = {
    cpuMs: undefined,
    cpuPercent: undefined,
    memoryBytes: undefined,
    processes: undefined,
    writtenBytes: undefined,
  };

  it.each<[string, Limits, Partial<Usage>, [string, number, number] | undefined]>([
    ['CPU seconds', { cpu_seconds: 4 }, { cpuMs: 5000 }, ['cpu_seconds', 5, 1.25]],
    ['CPU percent', { cpu_percent: 50 }, { cpuPercent: 40 }, ['cpu_percent', 40, 0.8]],
    ['CPU percent before a window has passed', { cpu_percent: 50 }, { cpuMs: 9999 }, undefined],
    ['memory', { memory_mb: 100 }, { memoryBytes: 50 * MB }, ['memory_mb', 50, 0.5]],
    ['processes at the limit are not above it', { processes: 8 }, { processes: 8 }, ['processes', 8, 1]],
    ['bytes written', { disk_mb: 10 }, { writtenBytes: 11 * MB }, ['disk_mb', 11, 1.1]],
    ['what has no limit', {}, { memoryBytes: 1e12, processes: 1e6 }, undefined],
  ])('%s', (_, limits, usage, expected) => {
    const [finding] = judgeUsage(limits, { ...NOTHING, ...usage });
    expect(finding && [finding.resource, finding.observed, finding.share]).toEqual(expected);
  });

  it('the nearest limit comes first', () => {
    const usage = { ...NOTHING, memoryBytes: 90 * MB, processes: 5 };
    const findings = judgeUsage({ processes: 10, memory_mb: 100 }, usage);
    expect(findings.map(({ resource }) => resource)).toEqual(['memory_mb', 'processes']);
  });

  it.each([
    [1000, 2000, 0.5],
    [1000, 1000, 1],
    [1000, 500, 2],
    [1000, 0, Infinity],
  ])('of a floor of %i MB, with %i MB free', (floor, free, share) => {
    expect(judgeFreeSpace(floor, free * MB).share).toBe(share);
  });
});

describe('the CPU window', () => {
  const percentOf = (samples: readonly (readonly [at: number, cpuMs: number])[]) => {
    const window = new CpuWindow(1000);
    for (const [at, cpuMs] of samples) window.push(at, cpuMs);
    return window.percent;
  };

  it.each([
    ['nothing yet', [], undefined],
    ['one sample', [[0, 0]], undefined],
    [
      'a burst shorter than the window',
      [
        [0, 0],
        [900, 900],
      ],
      undefined,
    ],
    [
      'a full window',
      [
        [0, 0],
        [500, 500],
        [1000, 1000],
      ],
      100,
    ],
    [
      'a burst, and then a pause',
      [
        [0, 0],
        [400, 400],
        [1000, 400],
        [1600, 400],
      ],
      0,
    ],
    [
      'two cores',
      [
        [0, 100],
        [1000, 2100],
      ],
      200,
    ],
    [
      'a look that came late',
      [
        [0, 0],
        [3000, 1500],
      ],
      50,
    ],
  ] as const)('%s', (_, samples, expected) => {
    expect(percentOf(samples)).toBe(expected);
  });

  it('begins anew when it was cleared', () => {
    const window = new CpuWindow(1000);
    window.push(0, 0);
    window.push(1000, 1000);
    window.clear();
    window.push(1100, 1100);
    expect([window.percent, window.latest]).toEqual([undefined, undefined]);
  });
});

describe('escalation', () => {
  const ALL: Endable = { command: 'runs', hasRest: () => true, canEndShell: true };
  const REST: Endable = { ...ALL, command: 'none' };
  const SHELL: Endable = { ...REST, hasRest: () => false };

  const climb = (escalation: Escalation, steps: readonly (readonly [number, Endable])[]) =>
    steps.map(([at, endable]) => escalation.next(at, endable));

  it('the command first, the background when that did not help within a second, then the shell', () => {
    const steps = [
      [0, ALL],
      [100, REST],
      [999, REST],
      [1000, REST],
      [1500, SHELL],
      [2000, SHELL],
      [2500, SHELL],
      [3000, SHELL],
    ] as const;
    expect(climb(new Escalation(), steps)).toEqual([
      'command',
      undefined,
      undefined,
      'rest',
      undefined,
      'shell',
      undefined,
      'session',
    ]);
  });

  it('a command that has left nothing running does not count against the next one, which is ended at once', () => {
    const escalation = new Escalation();
    expect(escalation.next(0, ALL)).toBe('command');
    escalation.startOver();
    expect(escalation.next(10, ALL)).toBe('command');
  });

  it('a next command is spared while the background is ended, and ended with the shell at last', () => {
    const steps = [
      [0, ALL],
      [10, REST],
      [500, ALL],
      [1000, ALL],
      [1500, ALL],
      [2000, ALL],
      [2500, ALL],
      [3000, ALL],
      [4000, ALL],
    ] as const;
    expect(climb(new Escalation(), steps)).toEqual([
      'command',
      undefined,
      undefined,
      'rest',
      undefined,
      'command',
      undefined,
      'shell',
      'session',
    ]);
  });

  it('what has taken effect is not waited for', () => {
    const escalation = new Escalation();
    expect(escalation.next(0, ALL)).toBe('command');
    escalation.settle();
    expect(climb(escalation, [[10, ALL], [20, ALL]])).toEqual(['rest', undefined]); // prettier-ignore
  });

  it('goes on where it was when the limit is exceeded again soon, and starts over after ten seconds', () => {
    const escalation = new Escalation();
    escalation.next(0, ALL);
    escalation.relax(9999);
    expect(escalation.next(9999, ALL)).toBe('rest');
    escalation.relax(20_000);
    expect(escalation.next(20_000, ALL)).toBe('command');
  });

  it('a shell that was ended is not forgotten for commands that leave nothing running', () => {
    const escalation = new Escalation();
    expect(escalation.next(0, SHELL)).toBe('shell');
    escalation.startOver();
    expect(escalation.next(1000, { ...SHELL, command: 'runs' })).toBe('session');
  });

  it('what is exceeded by background processes alone costs them, and not the shell where that cannot help', () => {
    const escalation = new Escalation();
    expect(escalation.next(0, REST)).toBe('rest');
    expect(escalation.next(5000, { ...SHELL, canEndShell: false })).toBeUndefined();
  });

  it('a count is ended for in turns: the command, the background, the command', () => {
    const count: Endable = { ...ALL, canEndShell: false };
    const steps = [0, 1000, 2000].map((at) => [at, count] as const);
    expect(climb(new Escalation(), steps)).toEqual(['command', 'rest', 'command']);
  });
});

describe('the pace', () => {
  const at = (share: number) => [{ resource: 'memory_mb' as const, limit: 100, observed: share * 100, share }];
  const CALM: Pace = { lastPauseMs: 100, before: at(0.1), now: at(0.1), hasCommand: true, isStill: false };

  it.each<[string, Partial<Pace>, number]>([
    ['the first look is soon followed by another', { lastPauseMs: undefined }, 5],
    ['pauses double', { lastPauseMs: 20 }, 40],
    ['up to 100 ms with limits', {}, 100],
    ['up to 300 ms while nothing changes, where sampling is expensive', { lastPauseMs: 200, isStill: true }, 300],
    ['up to a second without', { lastPauseMs: 800, before: [], now: [] }, 1000],
    ['up to a second for background processes', { lastPauseMs: 800, hasCommand: false }, 1000],
    ['half of the way to a limit', { before: at(0.2), now: at(0.6) }, 50],
    ['never shorter than 5 ms', { before: at(0.2), now: at(0.99) }, 5],
    ['5 ms when it is exceeded', { before: at(0.9), now: at(1.2) }, 5],
    ['a use that falls is no hurry', { before: at(0.9), now: at(0.5) }, 100],
  ])('%s', (_, pace, expected) => {
    expect(nextPauseMs({ ...CALM, ...pace })).toBe(expected);
  });
});
