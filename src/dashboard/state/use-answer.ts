import { type Signal, useSignal } from '@preact/signals';
import { useCallback, useEffect, useMemo } from 'preact/hooks';

import type { Answer, RequestInput, RequestName } from '../../client/index.js';
import { useDashboard } from './context.js';

/** The text of an error, for people. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** An answer as it is loaded. While it is loaded again, the last one stays. */
interface Loaded<T> {
  readonly value: T | undefined;
  /** What the daemon said instead of an answer. */
  readonly problem: string | undefined;
  readonly isLoading: boolean;
}

/** An answer, and a function that asks again. */
export interface LoadedAnswer<T> extends Loaded<T> {
  readonly reload: () => void;
}

/**
 * Sends a request when a component is shown, when its payload changes, and when a lost connection is there again.
 * @param payload undefined for not yet
 */
export function useAnswer<N extends RequestName>(
  name: N,
  payload: RequestInput<N> | undefined,
): LoadedAnswer<Answer<N>> {
  const { connection } = useDashboard();
  const loaded: Signal<Loaded<Answer<N>>> = useSignal({ value: undefined, problem: undefined, isLoading: true });
  const round = useSignal(0);
  const isConnected = connection.status.value.kind === 'connected';
  const key = payload === undefined ? undefined : JSON.stringify(payload);
  useEffect(() => {
    if (key === undefined || !isConnected) return undefined;
    const abort = new AbortController();
    loaded.value = { ...loaded.peek(), isLoading: true };
    const settle = (settled: Partial<Loaded<Answer<N>>>) => {
      if (abort.signal.aborted) return;
      loaded.value = { value: undefined, problem: undefined, isLoading: false, ...settled };
    };
    connection.request(name, JSON.parse(key) as RequestInput<N>).then(
      (value) => {
        settle({ value });
      },
      (error: unknown) => {
        settle({ problem: messageOf(error) });
      },
    );
    return () => abort.abort();
  }, [key, isConnected, round.value]);
  const reload = useCallback(() => {
    round.value += 1;
  }, []);
  return { ...loaded.value, reload };
}

/** Something that a button does, while it lasts and afterwards. */
interface Action {
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

/** The text of a field, which is kept until it is sent. `key` names the field and what it is about. */
export function useDraft(key: string): Signal<string> {
  const { drafts } = useDashboard();
  return useMemo(() => drafts.of(key), [key]);
}
