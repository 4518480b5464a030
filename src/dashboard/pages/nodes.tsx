import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';

import { Badge, Bar, type Tone } from '../components/badge.js';
import { TwoStepButton } from '../components/button.js';
import { type Column, DataTable } from '../components/data-table.js';
import { PageHead, Panel } from '../components/panel.js';
import { Empty, Loading, Problem } from '../components/states.js';
import { Ago } from '../components/time.js';
import { hrefOf } from '../route.js';
import { useDashboard } from '../state/context.js';
import { useAction } from '../state/use-answer.js';
import type { Node } from '../state/wire.js';

interface DrainButtonProps {
  readonly node: Node;
  /** Why the role may not. */
  readonly whyNot: string | undefined;
  readonly onDrain: (node: Node) => void;
}

/** Has a node take no new work, or take it again. A gateway has none. */
function DrainButton({ node, whyNot, onDrain }: DrainButtonProps): JSX.Element | null {
  if (node.role === 'gateway') return null;
  const isDraining = node.state === 'draining';
  const refused = whyNot ?? (node.state === 'live' || isDraining ? undefined : 'It is not connected.');
  return (
    <TwoStepButton
      ask={isDraining ? 'Take new work?' : 'Take nothing new?'}
      whyNot={refused}
      onPress={() => {
        onDrain(node);
      }}
    >
      {isDraining ? 'Undrain' : 'Drain'}
    </TwoStepButton>
  );
}

/** The nodes of the cluster: whether they are there, what they carry, and which version they run. */
export function Nodes(): JSX.Element {
  const { connection, access, live } = useDashboard();
  const { inCluster } = access;
  const nodes = live.nodes.value;
  const draining = useAction();
  useEffect(() => (inCluster ? live.want('nodes') : undefined), [inCluster]);
  const drain = ({ node, state }: Node) => {
    draining.run(async () => {
      await connection.request('drain_node', { node, drain: state !== 'draining' });
    });
  };
  const whyNot = access.whyNot('drain_node');
  const last: Column<Node> = {
    key: 'drain',
    title: 'New work',
    render: (node) => <DrainButton node={node} whyNot={whyNot} onDrain={drain} />,
  };
  return (
    <>
      <PageHead title="Nodes" />
      {draining.problem === undefined ? null : <Problem title="It was not done">{draining.problem}</Problem>}
      <Panel title={`Nodes of the cluster${nodes ? ` (${nodes.size})` : ''}`}>
        {inCluster ? <List nodes={nodes && [...nodes.values()]} last={last} /> : <Alone />}
      </Panel>
    </>
  );
}

interface ListProps {
  readonly nodes: readonly Node[] | undefined;
  readonly last: Column<Node>;
}

const Alone = (): JSX.Element => <Empty title="No nodes">This daemon is not part of a cluster.</Empty>;

function List({ nodes, last }: ListProps): JSX.Element {
  if (!nodes) return <Loading what="the nodes" />;
  return (
    <DataTable label="Nodes" rows={nodes} columns={[...COLUMNS, last]} keyOf={({ node }) => node} initialSort="node" />
  );
}

/** One that is there is seen all the time: only its changes are told. */
function seenText({ url, state, seen_at: at }: Node): string | JSX.Element {
  if (url === null) return 'this node';
  if (state === 'live' || state === 'draining') return 'now';
  return at === null ? 'never' : <Ago at={at} />;
}

const TONES: { readonly [S in Node['state']]: Tone } = { live: 'good', draining: 'warn', suspect: 'warn', lost: 'bad' };

const COLUMNS: readonly Column<Node>[] = [
  {
    key: 'node',
    title: 'Node',
    sortBy: ({ node }) => node,
    // A gateway runs nothing that could be listed.
    render: ({ node, role }) =>
      role === 'gateway' ? (
        node
      ) : (
        <a data-row href={hrefOf('overview', [], { node })}>
          {node}
        </a>
      ),
  },
  { key: 'role', title: 'Role', sortBy: ({ role }) => role, render: ({ role }) => role },
  {
    key: 'state',
    title: 'State',
    sortBy: ({ state }) => state,
    render: ({ state, problem }) => (
      <Badge tone={TONES[state]} title={problem ?? undefined}>
        {state}
      </Badge>
    ),
  },
  { key: 'problem', title: 'Problem', render: ({ problem }) => <span class="ellipsis">{problem}</span> },
  {
    key: 'sessions',
    title: 'Sessions and one-shots',
    sortBy: ({ sessions }) => sessions,
    render: ({ role, sessions, capacity }) =>
      role !== 'gateway' && (
        <Bar label="Sessions" value={sessions} limit={capacity} text={`${sessions} of ${capacity}`} />
      ),
  },
  { key: 'version', title: 'Version', sortBy: ({ version }) => version, render: ({ version }) => version ?? '—' },
  {
    key: 'labels',
    title: 'Labels',
    render: ({ labels }) =>
      Object.entries(labels)
        .map(([name, value]) => `${name}=${value}`)
        .join(', '),
  },
  {
    key: 'seen',
    title: 'Seen',
    sortBy: ({ seen_at: at }) => at,
    render: seenText,
  },
  { key: 'url', title: 'Address', sortBy: ({ url }) => url, render: ({ url }) => url !== null && <code>{url}</code> },
];
