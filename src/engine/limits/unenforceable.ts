import type { LimitName } from '../../core/limits/limits.js';
import type { Platform } from '../platform/contract/platform.js';

/** Returns the limits that a platform cannot enforce. */
export const unenforceableOn = ({ can }: Pick<Platform, 'can'>): readonly LimitName[] =>
  can.countWrites ? [] : ['disk_mb'];
