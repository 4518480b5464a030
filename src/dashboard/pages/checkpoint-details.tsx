import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';

import type { Answer } from '../../client/index.js';
import { Button } from '../components/button.js';
import { SafeText } from '../components/command-text.js';
import { Dialog } from '../components/dialog.js';
import { WorkspaceDiff } from '../components/diff-view.js';
import { Panel } from '../components/panel.js';
import { Loading, Problem } from '../components/states.js';
import { countOf } from '../format.js';
import { useDashboard } from '../state/context.js';
import { useAction, useAnswer } from '../state/use-answer.js';
import type { ChangedPath } from '../state/wire.js';

/** A checkpoint of the workspace. */
export type Checkpoint = Answer<'list_checkpoints'>['checkpoints'][number];

/** Paths of the workspace under a title; nothing when there are none. */
function PathList({ title, paths }: PathListProps): JSX.Element | null {
  const id = useId();
  if (paths.length === 0) return null;
  return (
    <section class="path-list" aria-labelledby={id}>
      <h3 id={id}>{`${title} (${paths.length})`}</h3>
      <ul aria-labelledby={id} tabIndex={0}>
        {paths.map((path) => (
          <li key={path}>
            <code>
              <SafeText text={path} />
            </code>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface PathListProps {
  readonly title: string;
  readonly paths: readonly string[];
}

/** What a restore does to the workspace, by kinds. */
interface RestorePlan {
  /** Paths that the checkpoint does not have. */
  readonly removed: readonly string[];
  /** Paths that get the content or the mode of the checkpoint. */
  readonly changed: readonly string[];
  /** Paths that are no longer there. */
  readonly broughtBack: readonly string[];
}

/** Derives what a restore does from what has changed since the checkpoint. */
function restorePlan(changes: readonly ChangedPath[]): RestorePlan {
  const pathsOf = (isMeant: (status: ChangedPath['status']) => boolean) =>
    changes.filter(({ status }) => isMeant(status)).map(({ path }) => path);
  return {
    removed: pathsOf((status) => status === 'added'),
    changed: pathsOf((status) => status !== 'added' && status !== 'deleted'),
    broughtBack: pathsOf((status) => status === 'deleted'),
  };
}

interface RestoreDialogProps {
  readonly checkpoint: Checkpoint;
  readonly onRestore: () => void;
  readonly onClose: () => void;
}

/** Shows what a restore will change before it is done. */
function RestoreDialog({ checkpoint, onRestore, onClose }: RestoreDialogProps): JSX.Element {
  const { value, problem } = useAnswer('diff_workspace', { checkpoint_id: checkpoint.checkpoint_id });
  const whyNot = value
    ? value.change_count === 0
      ? 'There is nothing to restore.'
      : undefined
    : 'What will change is not known yet.';
  const actions = (
    <>
      <Button onPress={onClose}>Cancel</Button>
      <Button tone="danger" whyNot={whyNot} onPress={onRestore}>
        Restore
      </Button>
    </>
  );
  return (
    <Dialog title="Restore the workspace?" onClose={onClose} actions={actions}>
      <p>The present state is saved first, as a checkpoint that undoes this.</p>
      {problem === undefined ? null : <Problem title="What will change cannot be shown">{problem}</Problem>}
      {value ? (
        <Plan changes={value.changes} count={value.change_count} />
      ) : problem === undefined ? (
        <Loading what="what will change" />
      ) : null}
    </Dialog>
  );
}

function Plan({ changes, count }: { readonly changes: Parameters<typeof restorePlan>[0]; readonly count: number }) {
  const { removed, changed, broughtBack } = restorePlan(changes);
  const unlisted = count - changes.length;
  return (
    <>
      {count === 0 ? <p>The workspace is as the checkpoint saved it.</p> : null}
      <PathList title="Will be removed" paths={removed} />
      <PathList title="Will be as they were" paths={changed} />
      <PathList title="Will come back" paths={broughtBack} />
      {unlisted > 0 ? <p>{`and ${countOf(unlisted, 'more path')}, too many to list`}</p> : null}
    </>
  );
}

interface RestoreResultProps {
  readonly result: Answer<'restore_workspace'>;
  /** Why nothing can be restored now. */
  readonly whyNot: string | undefined;
  readonly onUndo: (checkpointId: string) => void;
}

/** What a restore has done, and how to undo it; or who has to confirm it first. */
function RestoreResult({ result, whyNot, onUndo }: RestoreResultProps): JSX.Element {
  if (result.status === 'confirmation_required') return <ToConfirm result={result} />;
  const { undo_checkpoint_id: undo, skipped } = result;
  return (
    <div class="note good" role="status">
      <p>
        <strong>Restored.</strong>{' '}
        {`${countOf(result.restored_count, 'path')} came back, ${countOf(result.removed_count, 'path')} went.`}{' '}
        {undo === null ? null : (
          <Button whyNot={whyNot} onPress={() => onUndo(undo)}>
            Undo the restore
          </Button>
        )}
      </p>
      <PathList
        title="Not as they were"
        paths={skipped.map(({ path, reason }) => `${path}: ${reason.replaceAll('_', ' ')}`)}
      />
    </div>
  );
}

const ToConfirm = ({ result }: Pick<RestoreResultProps, 'result'>): JSX.Element => (
  <div class="note warn" role="alert">
    <p>
      <strong>Nothing has been restored yet.</strong> Other tokens have run commands since the checkpoint, and files may
      be theirs: you have to confirm it. <a href="#/confirmations">Go to the confirmations</a>, read what it would take,
      and approve it there with a reason.
    </p>
    <PathList title="It would remove" paths={result.would_remove ?? []} />
  </div>
);

/** Restores of the workspace from this page. */
interface Restoring {
  /** What the last one has done. */
  readonly result: Answer<'restore_workspace'> | undefined;
  /** Rises with each restore: what was read of the workspace before is out of date. */
  readonly round: number;
  readonly isRunning: boolean;
  /** Why the last one failed. */
  readonly problem: string | undefined;
  readonly restore: (checkpointId: string) => void;
}

/** Restores the workspace from checkpoints. */
function useRestore(onChanged: () => void): Restoring {
  const { connection } = useDashboard();
  const result = useSignal<Answer<'restore_workspace'> | undefined>(undefined);
  const round = useSignal(0);
  const { isRunning, problem, run } = useAction();
  const restore = (id: string) => {
    run(async () => {
      result.value = await connection.request('restore_workspace', { checkpoint_id: id });
      round.value += 1;
      onChanged();
    });
  };
  return { result: result.value, round: round.value, isRunning, problem, restore };
}

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
