/**
 * Calls the listener when a signal is aborted; at once if it is already.
 * @returns a function that ends this: a signal that lives long would keep every listener
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (!signal) return () => undefined;
  if (signal.aborted) listener();
  else signal.addEventListener('abort', listener, { once: true });
  return () => {
    signal.removeEventListener('abort', listener);
  };
}

/** A signal that is aborted with the first of others, until it is disposed of. */
export interface LinkedSignal extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * Links signals as `AbortSignal.any` does, which on Node.js 20 leaves something at the longest-lived of them each time.
 * Source: https://github.com/nodejs/node/issues/55351
 */
export function linkSignals(...signals: readonly (AbortSignal | undefined)[]): LinkedSignal {
  const linked = new AbortController();
  const ends = signals.map((signal) =>
    onAbort(signal, () => {
      linked.abort(signal?.reason);
    }),
  );
  return {
    signal: linked.signal,
    [Symbol.dispose]: () => {
      for (const end of ends) end();
    },
  };
}
