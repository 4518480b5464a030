import { useSignal } from '@preact/signals';

import { messageOf } from './message.js';

/** Something that a button does, while it lasts and afterwards. */
export interface Action {
  readonly isRunning: boolean;
  /** Why the last attempt failed; undefined when it did not. */
  readonly problem: string | undefined;
  /** Does something, unless it is being done. */
  readonly run: (work: () => Promise<void>) => void;
}

/** Follows something that a button does. */
export function useAction(): Action {
  const isRunning = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);
  const perform = async (work: () => Promise<void>) => {
    isRunning.value = true;
    problem.value = undefined;
    try {
      await work();
    } catch (error) {
      problem.value = messageOf(error);
    } finally {
      isRunning.value = false;
    }
  };
  const run = (work: () => Promise<void>) => {
    if (!isRunning.peek()) void perform(work);
  };
  return { isRunning: isRunning.value, problem: problem.value, run };
}
