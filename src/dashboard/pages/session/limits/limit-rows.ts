import type { SessionInfo } from '../../../../client/index.js';
import { formatBytes, formatPercent } from '../../../format/size.js';
import type { Resource } from './warnings.js';

const MB = 1024 * 1024;

type Used = SessionInfo['peaks'];

/** A resource of a session, and its limit. */
export interface LimitRow {
  readonly title: string;
  /** What warnings call it. */
  readonly resource: Resource;
  readonly of: (used: Used) => number;
  readonly limit: (limits: SessionInfo['limits']) => number | null;
  readonly format: (value: number) => string;
}

const inBytes = (megabytes: number | null): number | null => (megabytes === null ? null : megabytes * MB);

/** The resources that are bounded. */
export const LIMIT_ROWS: readonly LimitRow[] = [
  {
    title: 'CPU, of one core',
    resource: 'cpu_percent',
    of: ({ cpu_percent: value }) => value,
    limit: ({ cpu_percent: limit }) => limit,
    format: formatPercent,
  },
  {
    title: 'Memory',
    resource: 'memory_mb',
    of: ({ memory_bytes: value }) => value,
    limit: ({ memory_mb: limit }) => inBytes(limit),
    format: formatBytes,
  },
  {
    title: 'Processes',
    resource: 'processes',
    of: ({ processes: value }) => value,
    limit: ({ processes: limit }) => limit,
    format: String,
  },
  {
    title: 'Written to disks',
    resource: 'disk_mb',
    of: ({ written_bytes: value }) => value,
    limit: ({ disk_mb: limit }) => inBytes(limit),
    format: formatBytes,
  },
];
