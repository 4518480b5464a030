import type { JSX } from 'preact';

import { Badge } from '../../components/badge.js';
import { SafeText } from '../../components/command/command-text.js';
import { type Column, DataTable } from '../../components/table/data-table.js';
import { formatDateTime } from '../../format/time.js';
import { hrefOf } from '../../router/route.js';
import { useDashboard } from '../../state/context.js';
import { type AuditRecord, outcomeOf, principalOf, summaryOf } from './record-text.js';

/** Records, the newest first. */
export const AuditTable = ({ records }: { readonly records: readonly AuditRecord[] }): JSX.Element => (
  <DataTable
    label="Audit records"
    rows={records}
    columns={COLUMNS}
    keyOf={({ seq }) => String(seq)}
    initialSort="-seq"
  />
);

const COLUMNS: readonly Column<AuditRecord>[] = [
  {
    key: 'seq',
    title: 'No.',
    isNumeric: true,
    sortBy: ({ seq }) => seq,
    render: ({ seq }) => <RecordLink seq={seq} />,
  },
  {
    key: 'time',
    title: 'Time',
    sortBy: ({ time }) => time,
    render: ({ time }) => <time dateTime={time}>{formatDateTime(Date.parse(time))}</time>,
  },
  {
    key: 'event',
    title: 'Event',
    sortBy: ({ event }) => event,
    render: ({ event }) => event.replaceAll('_', ' '),
  },
  {
    key: 'principal',
    title: 'Token',
    sortBy: principalOf,
    render: (record) => <SafeText text={principalOf(record)} />,
  },
  {
    key: 'outcome',
    title: 'Outcome',
    sortBy: (record) => outcomeOf(record)?.text ?? null,
    render: (record) => {
      const outcome = outcomeOf(record);
      return outcome ? <Badge tone={outcome.tone}>{outcome.text}</Badge> : null;
    },
  },
  {
    key: 'what',
    title: 'What',
    render: (record) => (
      <span class="audit-what mono">
        <SafeText text={summaryOf(record).replaceAll('\n', ' ')} />
      </span>
    ),
  },
];

/** The filters stay in the address. */
function RecordLink({ seq }: { readonly seq: number }): JSX.Element {
  const { router } = useDashboard();
  return (
    <a data-row href={hrefOf('audit', [String(seq)], router.route.value.query)}>
      {seq}
    </a>
  );
}
