import type { JSX } from 'preact';

import type { SessionInfo } from '../../../client/index.js';
import { Badge, Bar, Chip } from '../../components/badge.js';
import { type Column, DataTable } from '../../components/data-table.js';
import { Icon } from '../../components/icon.js';
import { isOnNode, useChosenNode, withNodes } from '../../components/nodes.js';
import { Panel } from '../../components/panel.js';
import { Empty, Loading } from '../../components/states.js';
import { Ago, Since } from '../../components/time.js';
import { countOf, formatBytes, formatPercent } from '../../format.js';
import { hrefOf } from '../../route.js';
import { useDashboard } from '../../state/context.js';

/** A filter of the sessions, which is on or off. */
interface SessionFilter {
  /** Its value in the address. */
  readonly name: string;
  readonly title: string;
  readonly accepts: (session: SessionInfo, caller: string) => boolean;
}

/** The filters. Sessions have to pass all that are on. */
const SESSION_FILTERS: readonly SessionFilter[] = [
  { name: 'busy', title: 'Busy', accepts: ({ state }) => state === 'busy' },
  { name: 'idle', title: 'Idle', accepts: ({ state }) => state === 'idle' },
  { name: 'warnings', title: 'With warnings', accepts: ({ warnings }) => warnings.length > 0 },
  { name: 'mine', title: 'Mine', accepts: ({ owner }, caller) => owner === caller },
];

/** Parses the filters that are on, as the address has them: names with commas between. */
export const parseFilters = (text = ''): ReadonlySet<string> => new Set(text.split(',').filter(Boolean));

/** The filters after a press on one of them. */
export function toggleFilter(filters: ReadonlySet<string>, name: string): string {
  const next = new Set(filters);
  if (!next.delete(name)) next.add(name);
  return [...next].join(',');
}

/** What of the sessions is shown. */
interface SessionChoice {
  /** Names of the filters that are on. */
  readonly filters: ReadonlySet<string>;
  readonly text: string;
  /** Name of the node of a cluster; undefined for all. */
  readonly node: string | undefined;
  readonly caller: string;
}

/** The sessions of a node that pass all filters, and have a text in their label, id, owner, directory or command. */
export function filterSessions(
  sessions: Iterable<SessionInfo>,
  { filters, text, node, caller }: SessionChoice,
): SessionInfo[] {
  const active = SESSION_FILTERS.filter(({ name }) => filters.has(name));
  const wanted = text.toLowerCase();
  return [...sessions].filter(
    (session) =>
      isOnNode(session, node) &&
      active.every(({ accepts }) => accepts(session, caller)) &&
      (wanted === '' || textOf(session).includes(wanted)),
  );
}

const textOf = ({
  label,
  session_id: id,
  owner,
  working_directory: directory,
  running_command: running,
}: SessionInfo) => [label, id, owner, directory, running?.command].join('\n').toLowerCase();

const MB = 1024 * 1024;

const COLUMNS: readonly Column<SessionInfo>[] = [
  {
    key: 'label',
    title: 'Session',
    sortBy: ({ label, session_id: id }) => label ?? id,
    render: ({ label, session_id: id }) => (
      <a data-row href={hrefOf('sessions', [id])} class="ellipsis session-name">
        {label ?? id}
      </a>
    ),
  },
  { key: 'owner', title: 'Owner', sortBy: ({ owner }) => owner, render: ({ owner }) => owner },
  {
    key: 'state',
    title: 'State',
    sortBy: ({ state }) => state,
    render: ({ state }) => <Badge tone={state === 'busy' ? 'info' : 'neutral'}>{state}</Badge>,
  },
  {
    key: 'running',
    title: 'Running, or last',
    sortBy: ({ running_command: running }) => running?.started_at ?? null,
    render: ({ running_command: running, last_command: last }) =>
      running ? (
        <span class="running">
          <code class="ellipsis">{running.command}</code>
          <Since at={running.started_at} />
        </span>
      ) : (
        last && <code class="ellipsis last">{last.command}</code>
      ),
  },
  {
    key: 'cpu',
    title: 'CPU',
    sortBy: ({ usage }) => usage?.cpu_percent ?? null,
    render: ({ usage, limits }) =>
      usage && (
        <Bar label="CPU" value={usage.cpu_percent} limit={limits.cpu_percent} text={formatPercent(usage.cpu_percent)} />
      ),
  },
  {
    key: 'memory',
    title: 'Memory',
    sortBy: ({ usage }) => usage?.memory_bytes ?? null,
    render: ({ usage, limits }) =>
      usage && (
        <Bar
          label="Memory"
          value={usage.memory_bytes}
          limit={limits.memory_mb === null ? null : limits.memory_mb * MB}
          text={formatBytes(usage.memory_bytes)}
        />
      ),
  },
  {
    key: 'warnings',
    title: 'Warnings',
    sortBy: ({ warnings }) => warnings.length,
    render: ({ warnings }) =>
      warnings.length > 0 && (
        <Badge tone="warn" title={warnings.map(({ message }) => message).join('\n')}>
          <Icon name="warning" />
          {warnings.length === 1 ? warnings[0]?.code : countOf(warnings.length, 'warning')}
        </Badge>
      ),
  },
  {
    key: 'observers',
    title: 'Watched by',
    isNumeric: true,
    sortBy: ({ observers }) => observers,
    render: ({ observers }) => observers,
  },
  {
    key: 'expires',
    title: 'Expires',
    sortBy: ({ expires_at: at }) => at,
    render: ({ expires_at: at, expires_reason: reason }) => (
      <>
        <Ago at={at} /> <span class="muted">{`(${reason})`}</span>
      </>
    ),
  },
];

const CLUSTER_COLUMNS = withNodes(COLUMNS);

/** The sessions, with filters in the address. */
export function SessionsTable(): JSX.Element {
  const { live, router, access } = useDashboard();
  const all = live.sessions.value;
  const { show, q: text = '' } = router.route.value.query;
  const node = useChosenNode();
  const filters = parseFilters(show);
  if (!all) return <Loading what="the sessions" />;
  const caller = access.info.value?.name ?? '';
  const choice = { filters, text, node, caller };
  const rows = filterSessions(all.values(), choice);
  return (
    <Panel title={`Sessions (${all.size})`} actions={<SessionTools choice={choice} />}>
      {rows.length === 0 ? (
        <NoSessions isFiltered={all.size > 0} />
      ) : (
        <DataTable
          label="Sessions"
          rows={rows}
          columns={access.inCluster ? CLUSTER_COLUMNS : COLUMNS}
          keyOf={({ session_id: id }) => id}
          initialSort="label"
        />
      )}
    </Panel>
  );
}

function SessionTools({ choice }: { readonly choice: SessionChoice }): JSX.Element {
  const { filters, text } = choice;
  const { live, router } = useDashboard();
  const all = live.sessions.value ?? new Map<string, SessionInfo>();
  return (
    <div class="toolbar" role="group" aria-label="Filters of the sessions">
      {SESSION_FILTERS.map(({ name, title }) => (
        <Chip
          key={name}
          isOn={filters.has(name)}
          count={filterSessions(all.values(), { ...choice, filters: new Set([name]), text: '' }).length}
          onToggle={() => {
            router.setQuery({ show: toggleFilter(filters, name) });
          }}
        >
          {title}
        </Chip>
      ))}
      <label>
        <span class="hidden">Search the sessions</span>
        <input
          type="search"
          placeholder="Search…"
          value={text}
          onInput={({ currentTarget }) => {
            router.setQuery({ q: currentTarget.value });
          }}
        />
      </label>
    </div>
  );
}

const NoSessions = ({ isFiltered }: { readonly isFiltered: boolean }): JSX.Element =>
  isFiltered ? (
    <Empty title="No session passes the filters">
      <a href={hrefOf('overview')}>Show all</a>
    </Empty>
  ) : (
    <Empty title="No sessions">
      Agents and programs open them. By hand: <code>shell-adapter open --label work</code>
    </Empty>
  );
