import { type Signal, useSignal } from '@preact/signals';
import { useCallback, useEffect } from 'preact/hooks';

import type { Answer, RequestInput, RequestName } from '../../client/index.js';
import { useDashboard } from './context.js';
import { messageOf } from './message.js';

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
