import './limits.css';

import { type ReadonlySignal, useSignal, useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';

import type { EventPayload, SessionInfo } from '../../../client/index.js';
import { RESOURCE_NAMES } from '../../../core/limits.js';
import { Bar } from '../../components/badge.js';
import { Button } from '../../components/button.js';
import { Chart, type ChartMark } from '../../components/chart.js';
import { type Column, DataTable } from '../../components/data-table.js';
import { Panel } from '../../components/panel.js';
import { Empty } from '../../components/states.js';
import { formatBytes, formatClock, formatPercent } from '../../format.js';
import { useDashboard } from '../../state/context.js';
import type { TerminalModel } from './terminal/terminal-model.js';
import type { ViewedSession } from './use-session.js';

type Warning = EventPayload<'resource_warning'>;

/** What a limit is of. */
export type Resource = Warning['resource'];

/** A warning, and when it came, in milliseconds. */
export interface SeenWarning {
  readonly at: number;
  readonly warning: Warning;
}

/** How a mark looks and what it says, by the level of its warning. */
const LOOKS = {
  warning: { tone: 'warn', sign: '!', word: 'warning' },
  exceeded: { tone: 'bad', sign: '×', word: 'exceeded' },
} as const;

/** What a warning of the daemon says. */
function warningText({ resource, observed, limit, level }: Warning): string {
  const { unit } = RESOURCE_NAMES[resource];
  const meaning = level === 'exceeded' ? 'exceeded, so that it was ended' : 'near the limit';
  return `${titleOf(resource)}: ${Math.round(observed)} of ${limit}${unit}, ${meaning}`;
}

const titleOf = (resource: Resource): string => {
  const { name } = RESOURCE_NAMES[resource];
  return name.charAt(0).toUpperCase() + name.slice(1);
};

/** The marks of the chart of one resource, in the order of the warnings. */
export const marksOf = (seen: readonly SeenWarning[], resource: Resource): readonly ChartMark[] =>
  seen.filter(({ warning }) => warning.resource === resource).map(markOf);

function markOf({ at, warning: { resource, observed, limit, level } }: SeenWarning): ChartMark {
  const { tone, sign, word } = LOOKS[level];
  const percent = Math.round((observed / limit) * 100);
  return {
    at: at / 1000,
    tone,
    sign,
    text: `${word} at ${formatClock(at)}: ${titleOf(resource)} at ${percent} % of its limit`,
  };
}

const MB = 1024 * 1024;

type Used = SessionInfo['peaks'];

/** A resource of a session, and its limit. */
interface LimitRow {
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

/** Most samples that are kept: 5 minutes, one a second. */
const MAX_SAMPLES = 300;
const MAX_WARNINGS = 100;

/** What a session used at a time. */
interface UsageSample {
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

/** Time that the charts show, in milliseconds. */
const WINDOW_MS = 300_000;

const LINES = [{ title: 'Used', colour: '--accent' }] as const;

/** The values of the charts. */
const COLUMNS: readonly Column<UsageSample>[] = [
  { key: 'at', title: 'Time', sortBy: ({ at }) => at, render: ({ at }) => formatClock(at) },
  ...LIMIT_ROWS.map(({ title, of, format }): Column<UsageSample> => ({
    key: title,
    title,
    isNumeric: true,
    render: ({ used }) => (used ? format(of(used)) : '—'),
  })),
  {
    key: 'warnings',
    title: 'Warnings',
    render: ({ warnings }) => warnings.map(({ warning }) => warningText(warning)).join('; '),
  },
];

interface LimitsViewProps {
  readonly session: ViewedSession;
  readonly usage: ReadonlySignal<UsageRecord>;
}

/** What a session uses, against its limits. */
export function LimitsView({ session, usage }: LimitsViewProps): JSX.Element {
  const record = usage.value;
  const isTable = useSignal(false);
  const onTable = () => (isTable.value = !isTable.value);
  const tableButton = (
    <Button isPressed={isTable.value} onPress={onTable}>
      As table
    </Button>
  );
  return (
    <>
      <Panel title="Usage and limits" actions={tableButton}>
        {isTable.value ? <UsageTable record={record} /> : <Resources session={session} record={record} />}
      </Panel>
      <Panel title="Limits that came near or were exceeded">
        {record.warnings.length === 0 ? (
          <Empty title="None">While this page is open, they are listed here.</Empty>
        ) : (
          <ul class="marks">
            {record.warnings.map(({ at, warning }) => (
              <li key={`${at} ${warning.resource}`}>
                <time>{formatClock(at)}</time> {warningText(warning)}
              </li>
            ))}
          </ul>
        )}
      </Panel>
    </>
  );
}

interface UsageProps {
  readonly session: ViewedSession;
  readonly record: UsageRecord;
}

const UsageTable = ({ record: { samples } }: Pick<UsageProps, 'record'>): JSX.Element => (
  <DataTable
    label="Usage of the session"
    rows={samples}
    columns={COLUMNS}
    keyOf={({ at }) => String(at)}
    initialSort="-at"
  />
);

const Resources = ({ session, record }: UsageProps): JSX.Element => (
  <div class="limits">
    {LIMIT_ROWS.map((row) => (
      <LimitedResource key={row.title} row={row} session={session} record={record} />
    ))}
  </div>
);

interface ResourceProps extends UsageProps {
  readonly row: LimitRow;
}

function LimitedResource({ row, session: { info }, record }: ResourceProps): JSX.Element {
  const { clock } = useDashboard();
  const { usage, peaks, limits } = info;
  const limit = row.limit(limits);
  const now = usage ? row.format(row.of(usage)) : 'nothing runs';
  const to = clock.now.value / 1000;
  const data = {
    columns: [record.samples.map(({ at }) => at / 1000), record.samples.map(({ used }) => (used ? row.of(used) : 0))],
    from: to - WINDOW_MS / 1000,
    to,
    top: limit,
  };
  return (
    <section class="resource" aria-label={row.title}>
      <h3>{row.title}</h3>
      <Bar label={row.title} value={usage ? row.of(usage) : 0} limit={limit} text={now} />
      <p class="muted">{`limit ${limit === null ? 'none' : row.format(limit)}, most ${row.format(row.of(peaks))}`}</p>
      <Chart
        label={`${row.title}: now ${now}`}
        lines={LINES}
        data={data}
        marks={marksOf(record.warnings, row.resource)}
      />
    </section>
  );
}

/**
 * Records what a session uses, and the warnings of its limits, for as long as the caller is shown. Only what reads the value of the
 * signal is rendered again with each sample. Warnings come to those alone who observe the session: the terminal does, seen or not.
 */
export function useUsage(sessionId: string, model: Pick<TerminalModel, 'watch'>): ReadonlySignal<UsageRecord> {
  const { live, connection, clock } = useDashboard();
  const record = useSignal(EMPTY_RECORD);
  useSignalEffect(() => {
    const at = clock.now.value;
    const used = live.sessions.peek()?.get(sessionId)?.usage ?? null;
    record.value = withSample(record.peek(), { at, used });
  });
  useEffect(
    () =>
      connection.client.on('resource_warning', (warning) => {
        if (warning.session_id === sessionId) record.value = withWarning(record.peek(), { at: Date.now(), warning });
      }),
    [sessionId],
  );
  useEffect(() => {
    void model.watch();
  }, [model]);
  return record;
}
