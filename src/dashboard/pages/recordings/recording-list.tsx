import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';

import type { Answer } from '../../../client/index.js';
import { Badge, type Tone } from '../../components/badge.js';
import { Button } from '../../components/button.js';
import { type ClusterNodes, isOnNode, NodeSelect, useNodes, withNodes } from '../../components/nodes.js';
import { PageHead, Panel } from '../../components/panel.js';
import { type Column, DataTable } from '../../components/data-table.js';
import { Empty, Loading, Problem } from '../../components/states.js';
import { Ago } from '../../components/time.js';
import { countOf, formatBytes, formatDuration } from '../../format.js';
import { hrefOf } from '../../route.js';
import { useDashboard } from '../../state/context.js';

type Listed = Answer<'list_recordings'>;

/** A recording in wire format. */
export type Recording = Listed['recordings'][number];

/** Most recordings that are listed. */
const LIMIT = 1000;

const TONES: { readonly [S in Recording['state']]: Tone } = {
  recording: 'info',
  complete: 'good',
  cut: 'warn',
  interrupted: 'warn',
};

/** How a recording ended, in colour and words. */
export const StateBadge = ({ recording: { state, detail } }: { readonly recording: Recording }): JSX.Element => (
  <Badge tone={TONES[state]} title={detail ?? undefined}>
    {state}
  </Badge>
);

const COLUMNS: readonly Column<Recording>[] = [
  {
    key: 'title',
    title: 'Title',
    render: ({ title, recording_id: id }) => (
      <a href={hrefOf('recordings', [id])} data-row>
        {title ?? id}
      </a>
    ),
    sortBy: ({ title, recording_id: id }) => title ?? id,
  },
  { key: 'owner', title: 'Owner', render: ({ owner }) => owner, sortBy: ({ owner }) => owner },
  {
    key: 'started',
    title: 'Started',
    render: ({ started_at: at }) => <Ago at={at} />,
    sortBy: ({ started_at: at }) => Date.parse(at),
  },
  {
    key: 'length',
    title: 'Length',
    render: ({ duration_ms: ms }) => formatDuration(ms),
    sortBy: ({ duration_ms: ms }) => ms,
    isNumeric: true,
  },
  {
    key: 'size',
    title: 'Size',
    render: ({ bytes }) => formatBytes(bytes),
    sortBy: ({ bytes }) => bytes,
    isNumeric: true,
  },
  { key: 'state', title: 'State', render: (recording) => <StateBadge recording={recording} /> },
];

const CLUSTER_COLUMNS = withNodes(COLUMNS);

/** The recordings that this connection may see. */
export function RecordingList(): JSX.Element {
  const { connection } = useDashboard();
  const listed = useSignal<Listed | undefined>(undefined);
  const problem = useSignal('');
  const load = async () => {
    problem.value = '';
    try {
      listed.value = await connection.request('list_recordings', { limit: LIMIT });
    } catch (error) {
      problem.value = (error as Error).message;
    }
  };
  useEffect(() => void load(), []);
  const nodes = useNodes();
  return (
    <>
      <PageHead title="Recordings">
        <NodeSelect nodes={nodes} none="All nodes" />
      </PageHead>
      <Panel title="Recordings of sessions" actions={<Button onPress={() => void load()}>Refresh</Button>}>
        {problem.value === '' ? null : <Problem title="They could not be listed">{problem.value}</Problem>}
        {problem.value === '' || listed.value ? <ListBody listed={listed.value} nodes={nodes} /> : null}
      </Panel>
    </>
  );
}

interface ListBodyProps {
  readonly listed: Listed | undefined;
  readonly nodes: ClusterNodes | undefined;
}

function ListBody({ listed, nodes }: ListBodyProps): JSX.Element {
  if (!listed) return <Loading what="the recordings" />;
  const { recordings, total_bytes: bytes, truncated } = listed;
  if (recordings.length === 0) {
    return (
      <Empty title="No recordings">
        Record a session by <code>shell-adapter record</code>, or by <code>record: true</code> of{' '}
        <code>open_session</code>.
      </Empty>
    );
  }
  return (
    <>
      <DataTable
        label="Recordings"
        rows={recordings.filter((recording) => isOnNode(recording, nodes?.chosen))}
        columns={nodes ? CLUSTER_COLUMNS : COLUMNS}
        keyOf={({ recording_id: id }) => id}
        initialSort="-started"
      />
      <p class="recordings-total">
        {`${countOf(recordings.length, 'recording')}, ${formatBytes(bytes)}${truncated ? '; there are older ones' : ''}`}
      </p>
    </>
  );
}
