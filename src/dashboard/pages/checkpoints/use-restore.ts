import { useSignal } from '@preact/signals';

import type { Answer } from '../../../client/index.js';
import { useDashboard } from '../../state/context.js';
import { useAction } from '../../state/use-action.js';

/** Restores of the workspace from this page. */
export interface Restoring {
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
export function useRestore(onChanged: () => void): Restoring {
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
