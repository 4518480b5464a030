import type { JSX } from 'preact';

import { Button } from '../../components/button.js';
import { Dialog } from '../../components/dialog.js';
import { Loading, Problem } from '../../components/states.js';
import { countOf } from '../../format/words.js';
import { useAnswer } from '../../state/use-answer.js';
import type { Checkpoint } from './checkpoint.js';
import { PathList } from './path-list.js';
import { restorePlan } from './restore-plan.js';

interface RestoreDialogProps {
  readonly checkpoint: Checkpoint;
  readonly onRestore: () => void;
  readonly onClose: () => void;
}

/** Shows what a restore will change before it is done. */
export function RestoreDialog({ checkpoint, onRestore, onClose }: RestoreDialogProps): JSX.Element {
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
