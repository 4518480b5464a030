import type { SessionInfo } from '../../../../client/index.js';
import type { SeenWarning } from './warnings.js';

/** Most samples that are kept: 5 minutes, one a second. */
const MAX_SAMPLES = 300;
const MAX_WARNINGS = 100;

/** What a session used at a time. */
export interface UsageSample {
  /** In milliseconds. */
  readonly at: number;
  /** Null while nothing runs. */
  readonly used: SessionInfo['usage'];
  /** Those since the sample before, in the order of their times. */
  readonly warnings: readonly SeenWarning[];
}

/** What a session has used since its page was opened: the newest samples and warnings. */
export interface UsageRecord {
  readonly samples: readonly UsageSample[];
  /** Limits that came near, or were exceeded; the newest first. */
  readonly warnings: readonly SeenWarning[];
  /** Those that the next sample gets. */
  readonly unsampled: readonly SeenWarning[];
}

/** A record without samples. */
export const EMPTY_RECORD: UsageRecord = { samples: [], warnings: [], unsampled: [] };

/** Adds a sample; the oldest is dropped above a number. */
export const withSample = (record: UsageRecord, { at, used }: Pick<UsageSample, 'at' | 'used'>): UsageRecord => ({
  ...record,
  samples: [...record.samples, { at, used, warnings: record.unsampled }].slice(-MAX_SAMPLES),
  unsampled: [],
});

/** Adds a warning; the oldest is dropped above a number. */
export const withWarning = (record: UsageRecord, seen: SeenWarning): UsageRecord => ({
  ...record,
  warnings: [seen, ...record.warnings].slice(0, MAX_WARNINGS),
  unsampled: [...record.unsampled, seen].slice(-MAX_WARNINGS),
});
