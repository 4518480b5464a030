import type { JSX } from 'preact';

import type { ConfirmationInfo } from '../../../client/index.js';
import { Badge, type Tone } from '../../components/badge.js';
import { isOnNode, type OnNode, useChosenNode, withNodes } from '../../components/nodes.js';
import { type Column, DataTable } from '../../components/data-table.js';
import { Panel } from '../../components/panel.js';
import { Ago, Since } from '../../components/time.js';
import { formatBytes, formatDuration } from '../../format.js';
import { hrefOf } from '../../route.js';
import { useDashboard } from '../../state/context.js';
import type { CommandInfo, LlmCall } from '../../state/wire.js';

const RUNNING: readonly Column<CommandInfo>[] = [
  {
    key: 'command',
    title: 'Command',
    sortBy: ({ command }) => command,
    render: ({ command, command_id: id, session_id: session }) =>
      session === null ? (
        <code class="ellipsis wide">{command}</code>
      ) : (
        <a data-row class="ellipsis wide" href={hrefOf('sessions', [session], { view: 'timeline', command: id })}>
          <code>{command}</code>
        </a>
      ),
  },
  { key: 'owner', title: 'Owner', sortBy: ({ owner }) => owner, render: ({ owner }) => owner },
  {
    key: 'state',
    title: 'State',
    sortBy: ({ state }) => state,
    render: ({ state }) => <Badge tone={state === 'running' ? 'info' : 'neutral'}>{state}</Badge>,
  },
  {
    key: 'since',
    title: 'For',
    sortBy: ({ accepted_at: at }) => at,
    render: ({ started_at: started, accepted_at: accepted }) => <Since at={started ?? accepted} />,
  },
  {
    key: 'output',
    title: 'Output',
    isNumeric: true,
    sortBy: ({ stdout_bytes: out, stderr_bytes: err }) => out + err,
    render: ({ stdout_bytes: out, stderr_bytes: err }) => formatBytes(out + err),
  },
];

const RUNNING_IN_CLUSTER = withNodes(RUNNING);

/** The entries of the node that the address names, and the columns for them. */
function useOfNode<T extends OnNode>(
  entries: Iterable<T> | undefined,
  columns: readonly Column<T>[],
  columnsInCluster: readonly Column<T>[],
): { readonly rows: readonly T[]; readonly columns: readonly Column<T>[] } {
  const { access } = useDashboard();
  const node = useChosenNode();
  const rows = [...(entries ?? [])].filter((entry) => isOnNode(entry, node));
  return { rows, columns: access.inCluster ? columnsInCluster : columns };
}

/** The commands that run, those without a session too. */
export function RunningCommands(): JSX.Element | null {
  const known = useDashboard().live.commands.value?.values();
  const { rows, columns } = useOfNode(known, RUNNING, RUNNING_IN_CLUSTER);
  const commands = rows.filter(({ state }) => state !== 'ended');
  if (commands.length === 0) return null;
  return (
    <Panel title={`Running commands (${commands.length})`}>
      <DataTable
        label="Running commands"
        rows={commands}
        columns={columns}
        keyOf={({ owner, command_id: id }) => `${owner} ${id}`}
        initialSort="since"
        sortName="runsort"
      />
    </Panel>
  );
}

const CALL_TONES: { readonly [state: string]: Tone } = { ok: 'good', running: 'info', waiting: 'neutral' };

const CALLS: readonly Column<LlmCall>[] = [
  {
    key: 'provider',
    title: 'Provider',
    sortBy: ({ shell_provider: tool, provider }) => tool ?? provider,
    render: ({ shell_provider: tool, provider }) => tool ?? provider ?? '—',
  },
  { key: 'model', title: 'Model', sortBy: ({ model }) => model, render: ({ model }) => model ?? '—' },
  { key: 'owner', title: 'Owner', sortBy: ({ owner }) => owner, render: ({ owner }) => owner },
  {
    key: 'state',
    title: 'State',
    sortBy: ({ state }) => state,
    render: ({ state }) => <Badge tone={CALL_TONES[state] ?? 'bad'}>{state}</Badge>,
  },
  {
    key: 'started',
    title: 'Started',
    sortBy: ({ started_at: at }) => at,
    render: ({ started_at: at }) => <Ago at={at} />,
  },
  {
    key: 'duration',
    title: 'Duration',
    isNumeric: true,
    sortBy: ({ duration_ms: ms }) => ms,
    render: ({ duration_ms: ms }) => formatDuration(ms),
  },
  {
    key: 'tokens',
    title: 'Tokens',
    isNumeric: true,
    sortBy: ({ usage }) => usage?.total_tokens ?? null,
    render: ({ usage }) => usage?.total_tokens?.toLocaleString('en') ?? '—',
  },
];

const CALLS_IN_CLUSTER = withNodes(CALLS);

/** The LLM calls under way, and the last ones. */
export function LlmCalls(): JSX.Element | null {
  const known = useDashboard().live.calls.value?.values();
  const { rows: calls, columns } = useOfNode(known, CALLS, CALLS_IN_CLUSTER);
  if (calls.length === 0) return null;
  return (
    <Panel title={`LLM calls (${calls.length})`}>
      <DataTable
        label="LLM calls"
        rows={calls}
        columns={columns}
        keyOf={({ call_id: id }) => id}
        initialSort="-started"
        sortName="callsort"
      />
    </Panel>
  );
}

const WAITING: readonly Column<ConfirmationInfo>[] = [
  {
    key: 'command',
    title: 'Command',
    render: ({ command, confirmation_id: id }) => (
      <a data-row class="ellipsis wide" href={hrefOf('confirmations', [id])}>
        <code>{command}</code>
      </a>
    ),
  },
  { key: 'class', title: 'Class', render: (info) => <Badge tone="warn">{info.class.replaceAll('_', ' ')}</Badge> },
  { key: 'by', title: 'Requested by', render: ({ requested_by: by }) => by },
  {
    key: 'expires',
    title: 'Expires',
    sortBy: ({ expires_at: at }) => at,
    render: ({ expires_at: at }) => <Ago at={at} />,
  },
];

const WAITING_IN_CLUSTER = withNodes(WAITING);

/** The confirmations that are open. */
export function WaitingConfirmations(): JSX.Element | null {
  const known = useDashboard().live.confirmations.value?.values();
  const { rows: waiting, columns } = useOfNode(known, WAITING, WAITING_IN_CLUSTER);
  if (waiting.length === 0) return null;
  return (
    <Panel title={`Waiting for confirmation (${waiting.length})`}>
      <DataTable
        label="Waiting for confirmation"
        rows={waiting}
        columns={columns}
        keyOf={({ confirmation_id: id }) => id}
        initialSort="expires"
        sortName="waitsort"
      />
    </Panel>
  );
}
