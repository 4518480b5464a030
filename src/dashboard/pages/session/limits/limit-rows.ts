import type { EventPayload, SessionInfo } from '../../../../client/index.js';
import { formatBytes, formatPercent } from '../../../format/size.js';

const MB = 1024 * 1024;

type Used = SessionInfo['peaks'];

/** A resource of a session, and its limit. */
export interface LimitRow {
  readonly title: string;
  readonly of: (used: Used) => number;
  readonly limit: (limits: SessionInfo['limits']) => number | null;
  readonly format: (value: number) => string;
}

const inBytes = (megabytes: number | null): number | null => (megabytes === null ? null : megabytes * MB);

type Warning = EventPayload<'resource_warning'>;

const NAMES: { readonly [R in Warning['resource']]: readonly [name: string, unit: string] } = {
  cpu_percent: ['CPU', ' %'],
  cpu_seconds: ['CPU time', ' s'],
  memory_mb: ['Memory', ' MB'],
  processes: ['Processes', ''],
  disk_mb: ['Written to disks', ' MB'],
  disk_free_mb: ['Free disk', ' MB'],
};

/** What a warning of the daemon says. */
export function warningText({ resource, observed, limit, level }: Warning): string {
  const [name, unit] = NAMES[resource];
  const meaning = level === 'exceeded' ? 'exceeded, so that it was ended' : 'near the limit';
  return `${name}: ${Math.round(observed)} of ${limit}${unit}, ${meaning}`;
}

/** The resources that are bounded. */
export const LIMIT_ROWS: readonly LimitRow[] = [
  {
    title: 'CPU, of one core',
    of: ({ cpu_percent: value }) => value,
    limit: ({ cpu_percent: limit }) => limit,
    format: formatPercent,
  },
  {
    title: 'Memory',
    of: ({ memory_bytes: value }) => value,
    limit: ({ memory_mb: limit }) => inBytes(limit),
    format: formatBytes,
  },
  {
    title: 'Processes',
    of: ({ processes: value }) => value,
    limit: ({ processes: limit }) => limit,
    format: String,
  },
  {
    title: 'Written to disks',
    of: ({ written_bytes: value }) => value,
    limit: ({ disk_mb: limit }) => inBytes(limit),
    format: formatBytes,
  },
];
