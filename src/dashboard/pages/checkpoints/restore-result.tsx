import type { JSX } from 'preact';

import type { Answer } from '../../../client/index.js';
import { Button } from '../../components/button.js';
import { countOf } from '../../format/words.js';
import { PathList } from './path-list.js';

interface RestoreResultProps {
  readonly result: Answer<'restore_workspace'>;
  /** Why nothing can be restored now. */
  readonly whyNot: string | undefined;
  readonly onUndo: (checkpointId: string) => void;
}

/** What a restore has done, and how to undo it; or who has to confirm it first. */
export function RestoreResult({ result, whyNot, onUndo }: RestoreResultProps): JSX.Element {
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
