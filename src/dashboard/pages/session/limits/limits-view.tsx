import { type ReadonlySignal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';

import { Bar } from '../../../components/bar.js';
import { Button } from '../../../components/button.js';
import { Chart } from '../../../components/chart/chart.js';
import { type Column, DataTable } from '../../../components/table/data-table.js';
import { Panel } from '../../../components/panel.js';
import { Empty } from '../../../components/states.js';
import { formatClock } from '../../../format/time.js';
import { useDashboard } from '../../../state/context.js';
import type { ViewedSession } from '../use-session.js';
import { LIMIT_ROWS, type LimitRow } from './limit-rows.js';
import type { UsageRecord, UsageSample } from './usage-record.js';
import { marksOf, warningText } from './warnings.js';

import './limits.css';

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
      <Resource key={row.title} row={row} session={session} record={record} />
    ))}
  </div>
);

interface ResourceProps extends UsageProps {
  readonly row: LimitRow;
}

function Resource({ row, session: { info }, record }: ResourceProps): JSX.Element {
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
