import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';

import { Button } from '../../components/button.js';
import { SafeText } from '../../components/command/command-text.js';
import { WorkspaceDiff } from '../../components/diff/workspace-diff.js';
import { Panel } from '../../components/panel.js';
import { useDashboard } from '../../state/context.js';
import type { Checkpoint } from './checkpoint.js';
import { RestoreDialog } from './restore-dialog.js';
import { RestoreResult } from './restore-result.js';
import { useRestore } from './use-restore.js';

interface CheckpointDetailsProps {
  readonly checkpoint: Checkpoint;
  readonly onChanged: () => void;
}

/** What has changed since a checkpoint, and how to go back to it. */
export function CheckpointDetails({ checkpoint, onChanged }: CheckpointDetailsProps): JSX.Element {
  const { access } = useDashboard();
  const isAsking = useSignal(false);
  const { result, round, isRunning, problem, restore } = useRestore(onChanged);
  const whyNot = access.whyNot('restore_workspace') ?? (isRunning ? 'A restore is under way.' : undefined);
  const ask = () => {
    isAsking.value = true;
  };
  return (
    <Panel
      title="Changes since this checkpoint"
      actions={
        <Button onPress={ask} whyNot={whyNot} tone="danger">
          {isRunning ? 'Restoring…' : 'Restore…'}
        </Button>
      }
    >
      <Progress isRunning={isRunning} problem={problem} />
      {result ? <RestoreResult result={result} whyNot={whyNot} onUndo={restore} /> : null}
      <p class="diff-summary muted">
        <code>{checkpoint.checkpoint_id}</code>
        {checkpoint.label === null ? null : <SafeText text={checkpoint.label} />}
      </p>
      <WorkspaceDiff key={round} checkpointId={checkpoint.checkpoint_id} />
      {isAsking.value ? (
        <RestoreDialog
          checkpoint={checkpoint}
          onRestore={() => {
            isAsking.value = false;
            restore(checkpoint.checkpoint_id);
          }}
          onClose={() => {
            isAsking.value = false;
          }}
        />
      ) : null}
    </Panel>
  );
}

/** A restore that takes files of others waits until it is confirmed. */
function Progress({ isRunning, problem }: { readonly isRunning: boolean; readonly problem: string | undefined }) {
  if (problem !== undefined) {
    return (
      <p class="note bad" role="alert">
        {`It was not restored: ${problem}`}
      </p>
    );
  }
  if (!isRunning) return null;
  return (
    <p class="note" role="status">
      It is being restored. If other tokens have run commands in the workspace since, it waits here until it is{' '}
      <a href="#/confirmations">confirmed</a>.
    </p>
  );
}
