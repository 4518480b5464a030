import './checkpoints.css';

import type { JSX } from 'preact';

import { Badge } from '../components/badge.js';
import { Button } from '../components/button.js';
import { SafeText } from '../components/command-text.js';
import { type Column, DataTable } from '../components/data-table.js';
import { NodeSelect, useNodes, workingNode } from '../components/nodes.js';
import { PageHead, Panel } from '../components/panel.js';
import { Empty, Loading, Problem } from '../components/states.js';
import { TextField } from '../components/text-field.js';
import { Ago } from '../components/time.js';
import { formatBytes } from '../format.js';
import { type PageProps } from '../router.js';
import { hrefOf } from '../route.js';
import { useDashboard } from '../state/context.js';
import { useAction, useAnswer, useDraft } from '../state/use-answer.js';
import { type Checkpoint, CheckpointDetails } from './checkpoint-details.js';

interface SaveFormProps {
  /** Of a cluster: the node whose workspace is saved. */
  readonly node: string | undefined;
  readonly onSaved: () => void;
}

/** Saves the workspace as a checkpoint, with a label. */
function SaveForm({ node, onSaved }: SaveFormProps): JSX.Element {
  const { connection, access, notices } = useDashboard();
  const label = useDraft('checkpoint label');
  const { isRunning, problem, run } = useAction();
  const whyNot = access.whyNot('checkpoint_workspace') ?? (isRunning ? 'It is being saved.' : undefined);
  const save = () => {
    if (whyNot !== undefined) return;
    run(async () => {
      const text = label.peek().trim();
      await connection.request('checkpoint_workspace', { node, ...(text !== '' && { label: text }) });
      label.value = '';
      notices.say('The workspace was saved.');
      onSaved();
    });
  };
  return (
    <form
      aria-label="Save a checkpoint"
      class="toolbar save-form"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <TextField label="Label" text={label} maxLength={100} />
      <Button onPress={save} whyNot={whyNot}>
        {isRunning ? 'Saving…' : 'Save now'}
      </Button>
      {problem === undefined ? null : (
        <span class="problem-text" role="alert">
          {problem}
        </span>
      )}
    </form>
  );
}

/** What a checkpoint was made for. */
const KINDS: { readonly [K in Checkpoint['kind']]: string } = {
  requested: 'requested',
  before_restore: 'before a restore',
  before_command: 'before a command',
};

/** The saved states of the workspace: what has changed since, and the way back. In a cluster, those of one node. */
export function Checkpoints({ segments: [id] }: PageProps): JSX.Element {
  const nodes = useNodes();
  const node = nodes && workingNode(nodes);
  // Which nodes there are is known a moment later.
  const payload = nodes && node === undefined ? undefined : { node };
  const { value, problem, isLoading, reload } = useAnswer('list_checkpoints', payload);
  return (
    <>
      <PageHead title="Checkpoints">
        <NodeSelect nodes={nodes} fallback={node} />
        <Button onPress={reload}>{isLoading ? 'Loading…' : 'Refresh'}</Button>
      </PageHead>
      <Panel title="Saved states of the workspace" actions={<SaveForm node={node} onSaved={reload} />}>
        <List checkpoints={value?.checkpoints} problem={problem} selected={id} />
      </Panel>
      {value && id !== undefined ? <Selected id={id} checkpoints={value.checkpoints} onChanged={reload} /> : null}
    </>
  );
}

interface SelectedProps {
  readonly id: string;
  readonly checkpoints: readonly Checkpoint[];
  readonly onChanged: () => void;
}

function Selected({ id, checkpoints, onChanged }: SelectedProps): JSX.Element {
  const selected = checkpoints.find(({ checkpoint_id: each }) => each === id);
  if (selected) return <CheckpointDetails key={id} checkpoint={selected} onChanged={onChanged} />;
  return <Problem title="There is no such checkpoint">It may have made room for a newer one.</Problem>;
}

interface ListProps {
  readonly checkpoints: readonly Checkpoint[] | undefined;
  readonly problem: string | undefined;
  readonly selected: string | undefined;
}

function List({ checkpoints, problem, selected }: ListProps): JSX.Element {
  if (problem !== undefined) return <Problem title="The checkpoints cannot be listed">{problem}</Problem>;
  if (!checkpoints) return <Loading what="the checkpoints" />;
  if (checkpoints.length === 0) {
    return (
      <Empty title="No checkpoints">
        Save one here. The daemon also saves one before a command that may destroy something.
      </Empty>
    );
  }
  return (
    <DataTable
      label="Checkpoints"
      rows={checkpoints}
      columns={COLUMNS}
      keyOf={({ checkpoint_id: id }) => id}
      initialSort="-created"
      classOf={({ checkpoint_id: id }) => (id === selected ? 'selected' : '')}
    />
  );
}

/** The node stays in the address. */
function CheckpointLink({ id }: { readonly id: string }): JSX.Element {
  const { router } = useDashboard();
  return (
    <a data-row class="mono" href={hrefOf('checkpoints', [id], router.route.value.query)}>
      {id}
    </a>
  );
}

const COLUMNS: readonly Column<Checkpoint>[] = [
  {
    key: 'id',
    title: 'Checkpoint',
    sortBy: ({ checkpoint_id: id }) => id,
    render: ({ checkpoint_id: id }) => <CheckpointLink id={id} />,
  },
  {
    key: 'created',
    title: 'Saved',
    sortBy: ({ created_at: at }) => at,
    render: ({ created_at: at }) => <Ago at={at} />,
  },
  {
    key: 'label',
    title: 'Label',
    sortBy: ({ label }) => label,
    render: ({ label }) => (label === null ? <span class="muted">none</span> : <SafeText text={label} />),
  },
  {
    key: 'kind',
    title: 'Made',
    sortBy: ({ kind }) => kind,
    render: ({ kind }) => <Badge tone={kind === 'requested' ? 'info' : 'neutral'}>{KINDS[kind]}</Badge>,
  },
  {
    key: 'files',
    title: 'Files',
    isNumeric: true,
    sortBy: ({ files }) => files,
    render: ({ files }) => files.toLocaleString('en'),
  },
  {
    key: 'bytes',
    title: 'Size',
    isNumeric: true,
    sortBy: ({ bytes }) => bytes,
    render: ({ bytes }) => formatBytes(bytes),
  },
];
