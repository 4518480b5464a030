import './audit.css';

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';

import type { Answer } from '../../client/index.js';
import { AUDIT_EVENTS } from '../../core/audit-events.js';
import { Badge } from '../components/badge.js';
import { Button, CopyButton } from '../components/button.js';
import { SafeText } from '../components/command-text.js';
import { type Column, DataTable } from '../components/data-table.js';
import { Dialog } from '../components/dialog.js';
import { type ClusterNodes, NodeSelect, useNodes } from '../components/nodes.js';
import { PageHead, Panel } from '../components/panel.js';
import { Empty, Loading, Problem } from '../components/states.js';
import { countOf, formatClock, formatDateTime } from '../format.js';
import { type PageProps } from '../router.js';
import { hrefOf } from '../route.js';
import { useDashboard } from '../state/context.js';
import { type LoadedAnswer, useAnswer } from '../state/use-answer.js';
import {
  type AuditLog,
  type AuditRecord,
  auditRequest,
  type Filter,
  FILTERS,
  outcomeOf,
  principalOf,
  summaryOf,
  textOf,
  useAuditLog,
} from './audit-log.js';

/** The filters of the page. They are in the address. */
function AuditFilters(): JSX.Element {
  const { router } = useDashboard();
  const { query } = router.route.value;
  const isAny = FILTERS.some((name) => (query[name] ?? '') !== '');
  const clear = () => {
    router.setQuery(Object.fromEntries(FILTERS.map((name) => [name, ''])));
  };
  return (
    <search class="filters" aria-label="Filters">
      <TextFilter name="text" title="Text" kind="search" />
      <EventFilter />
      <TextFilter name="principal" title="Token" />
      <TextFilter name="session_id" title="Session" />
      <TextFilter name="command_id" title="Command" />
      <TextFilter name="since" title="From" kind="datetime-local" />
      <TextFilter name="until" title="To" kind="datetime-local" />
      <Button onPress={clear} whyNot={isAny ? undefined : 'There is no filter.'}>
        Clear
      </Button>
    </search>
  );
}

interface TextFilterProps {
  readonly name: Filter;
  readonly title: string;
  readonly kind?: 'text' | 'search' | 'datetime-local';
}

const TYPES = {
  text: { type: 'text' },
  search: { type: 'search' },
  'datetime-local': { type: 'datetime-local' },
} as const;

function TextFilter({ name, title, kind = 'text' }: TextFilterProps): JSX.Element {
  const { router } = useDashboard();
  return (
    <label class="field">
      <span>{title}</span>
      <input
        {...TYPES[kind]}
        autoComplete="off"
        spellcheck={false}
        maxLength={256}
        value={router.route.value.query[name] ?? ''}
        onInput={({ currentTarget }) => {
          router.setQuery({ [name]: currentTarget.value });
        }}
      />
    </label>
  );
}

function EventFilter(): JSX.Element {
  const { router } = useDashboard();
  return (
    <label class="field">
      <span>Event</span>
      <select
        value={router.route.value.query['event'] ?? ''}
        onChange={({ currentTarget }) => {
          router.setQuery({ event: currentTarget.value });
        }}
      >
        <option value="">all</option>
        {Object.keys(AUDIT_EVENTS).map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Records, the newest first. */
const AuditTable = ({ records }: { readonly records: readonly AuditRecord[] }): JSX.Element => (
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

interface RecordDialogProps {
  readonly seq: number;
  /** Records that the page has. */
  readonly known: readonly AuditRecord[] | undefined;
  /** Of a cluster: the node whose log has it. */
  readonly node: string | undefined;
}

/** A record as it is in the file, with ways to what belongs to it. */
function RecordDialog({ seq, known, node }: RecordDialogProps): JSX.Element {
  const { router } = useDashboard();
  const found = known?.find((record) => record.seq === seq);
  const { value, problem } = useAnswer('read_audit', found ? undefined : { before: seq + 1, limit: 1, node });
  const record = found ?? value?.records.find((each) => each.seq === seq);
  const close = () => {
    router.go(hrefOf('audit', [], router.route.peek().query));
  };
  return (
    <Dialog title={`Record ${seq}`} onClose={close} actions={record ? <Actions record={record} node={node} /> : null}>
      {record ? (
        <pre class="command-text audit-json" tabIndex={0}>
          <SafeText text={JSON.stringify(record, null, 2)} />
        </pre>
      ) : problem !== undefined || value ? (
        <Problem title="There is no such record">{problem ?? 'It may have been in a file that was deleted.'}</Problem>
      ) : (
        <Loading what="the record" />
      )}
    </Dialog>
  );
}

interface ActionsProps extends Pick<RecordDialogProps, 'node'> {
  readonly record: AuditRecord;
}

function Actions({ record, node = '' }: ActionsProps): JSX.Element {
  const { router } = useDashboard();
  const narrow = (field: 'command_id' | 'session_id', title: string) => {
    const value = textOf(record, field);
    if (value === '') return null;
    return <Button onPress={() => router.go(hrefOf('audit', [], { [field]: value, node }))}>{title}</Button>;
  };
  return (
    <>
      {narrow('command_id', 'All of this command')}
      {narrow('session_id', 'All of this session')}
      <CopyButton text={JSON.stringify(record, null, 2)} label="Copy the record" />
    </>
  );
}

/**
 * Whether the log is as it was written, and when that was checked.
 * @param node of a cluster; by default the one that the page is connected to
 */
function VerifyBadge({ node }: { readonly node: string | undefined }): JSX.Element {
  const verified = useAnswer('verify_audit', { node });
  const { value, isLoading, reload } = verified;
  return (
    <>
      <Verdict verified={verified} />
      <Button onPress={reload} whyNot={isLoading ? 'It is being verified.' : undefined}>
        Verify again
      </Button>
      {value?.ok === false ? (
        <ul class="audit-problems" role="alert">
          {value.problems.map((problem) => (
            <li key={problem}>
              <SafeText text={problem} />
            </li>
          ))}
        </ul>
      ) : null}
    </>
  );
}

function Verdict({ verified: { value, problem } }: { readonly verified: LoadedAnswer<Answer<'verify_audit'>> }) {
  if (problem !== undefined) return <Badge tone="warn">{`not verified: ${problem}`}</Badge>;
  if (!value) return <Badge>verifying…</Badge>;
  const at = formatClock(Date.parse(value.checked_at));
  if (!value.ok) return <Badge tone="bad">{`Tampered with or damaged · ${at}`}</Badge>;
  return <Badge tone="good">{`Verified: ${countOf(value.records, 'record')} · ${at}`}</Badge>;
}

/** What has happened: the records of the audit log. In a cluster, those of one node. */
export function Audit({ segments: [seq] }: PageProps): JSX.Element {
  const { router } = useDashboard();
  const nodes = useNodes();
  const node = nodes?.chosen;
  const isFollowing = useSignal(true);
  const whyNotFollow = whyNotFollowed(nodes);
  const isLive = isFollowing.value && whyNotFollow === undefined;
  const log = useAuditLog({ ...auditRequest(router.route.value.query), ...(node !== undefined && { node }) }, isLive);
  const toggle = () => {
    isFollowing.value = !isFollowing.value;
    // What came meanwhile is not there.
    if (isFollowing.value) void log.start();
  };
  return (
    <>
      <PageHead title="Audit">
        <NodeSelect nodes={nodes} none={`This node (${nodes?.own})`} />
        <VerifyBadge node={node} />
      </PageHead>
      <Panel title="Records" actions={<Follow isLive={isLive} whyNot={whyNotFollow} onToggle={toggle} />}>
        <AuditFilters />
        <Records log={log} />
      </Panel>
      {seq === undefined ? null : <RecordDialog seq={Number(seq)} known={log.state.value.records} node={node} />}
    </>
  );
}

/** Only the node that the page is connected to tells of new records. */
const whyNotFollowed = (nodes: ClusterNodes | undefined): string | undefined =>
  nodes?.chosen === undefined || nodes.chosen === nodes.own
    ? undefined
    : 'Only the log of the node of this page can be followed.';

interface FollowProps {
  readonly isLive: boolean;
  readonly whyNot: string | undefined;
  readonly onToggle: () => void;
}

const Follow = ({ isLive, whyNot, onToggle }: FollowProps): JSX.Element => (
  <Button onPress={onToggle} isPressed={isLive} whyNot={whyNot} title="New records appear as they are written">
    {isLive ? 'Following' : 'Follow'}
  </Button>
);

function Records({ log }: { readonly log: AuditLog }): JSX.Element {
  const { records, problem, next, isLoading, skipped, unreadable } = log.state.value;
  if (problem !== undefined) return <Problem title="The audit log cannot be read">{problem}</Problem>;
  if (!records) return <Loading what="the records" />;
  return (
    <>
      {skipped > 0 ? (
        <p class="note warn">{`${countOf(skipped, 'record')} came too fast and are not shown: press Follow twice.`}</p>
      ) : null}
      {unreadable > 0 ? (
        <p class="note bad">{`${countOf(unreadable, 'line')} of the log cannot be read as records: see above.`}</p>
      ) : null}
      {records.length === 0 ? (
        <Empty title="No records">No record matches all filters, as far as the log was searched.</Empty>
      ) : (
        <AuditTable records={records} />
      )}
      <p class="audit-more">
        <Button
          onPress={() => void log.readOlder()}
          whyNot={next === null ? 'This is the beginning of the log.' : isLoading ? 'They are being read.' : undefined}
        >
          {isLoading ? 'Loading…' : 'Older records'}
        </Button>
        <span class="muted">{countOf(records.length, 'record')}</span>
      </p>
    </>
  );
}
