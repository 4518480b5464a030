import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { useDashboard } from '../context.js';
import { loadCode } from './load-code.js';

/** Code that a component needs, and whether it could not be loaded. */
interface LoadedCode<T> {
  readonly code: T | undefined;
  readonly isMissing: boolean;
}

/**
 * Loads code that a component needs, while the daemon answers. What fails to load with the connection is asked for again
 * once that is back.
 * @param load imports a module, which no other one imports; is not read again
 */
export function useCode<T>(load: () => Promise<T>): LoadedCode<T> {
  const { connection } = useDashboard();
  const loaded = useSignal<LoadedCode<T>>({ code: undefined, isMissing: false });
  const isConnected = connection.status.value.kind === 'connected';
  useEffect(() => {
    if (!isConnected || loaded.peek().code !== undefined) return;
    loadCode(load).then(
      (code) => {
        loaded.value = { code, isMissing: false };
      },
      () => {
        loaded.value = { code: undefined, isMissing: true };
      },
    );
  }, [isConnected]);
  return loaded.value;
}
