import { describe, expect, it } from 'vitest';

import {
  EMPTY_RECORD,
  type SeenWarning,
  type UsageRecord,
  withSample,
  withWarning,
} from '../../../../../src/dashboard/pages/session/limits-view.js';

const seen = (at: number): SeenWarning => ({
  at,
  warning: { session_id: 's', command_id: null, level: 'warning', resource: 'memory_mb', limit: 100, observed: 90 },
});

const sample = (at: number) => ({ at, used: null });

const timesOf = (entries: readonly { readonly at: number }[]) => entries.map(({ at }) => at);

describe('the record of what a session uses', () => {
  it('gives each warning to the one sample that follows it, whatever their times', () => {
    let record: UsageRecord = withSample(EMPTY_RECORD, sample(1000));
    for (const at of [1000, 1500]) record = withWarning(record, seen(at));
    for (const at of [2000, 3000]) record = withSample(record, sample(at));
    // The clock was set back.
    record = withSample(withWarning(record, seen(500)), sample(600));
    expect(record.samples.map(({ at, warnings }) => [at, timesOf(warnings)])).toEqual([
      [1000, []],
      [2000, [1000, 1500]],
      [3000, []],
      [600, [500]],
    ]);
    expect(timesOf(record.warnings)).toEqual([500, 1500, 1000]);
  });

  it('keeps the newest 300 samples and 100 warnings', () => {
    let record: UsageRecord = EMPTY_RECORD;
    for (let at = 1; at <= 150; at += 1) record = withWarning(record, seen(at));
    for (let at = 1; at <= 400; at += 1) record = withSample(record, sample(at));
    expect([record.samples.length, record.samples[0]?.at, record.samples.at(-1)?.at]).toEqual([300, 101, 400]);
    expect([record.warnings.length, record.warnings[0]?.at, record.warnings.at(-1)?.at]).toEqual([100, 150, 51]);
    record = withSample(withWarning(EMPTY_RECORD, seen(0)), sample(0));
    for (let at = 1; at <= 150; at += 1) record = withWarning(record, seen(at));
    expect(timesOf(withSample(record, sample(151)).samples.at(-1)?.warnings ?? []).slice(0, 2)).toEqual([51, 52]);
  });
});
