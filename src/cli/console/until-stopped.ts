import type { Context } from './context.js';

/** Runs until a signal arrives or the reader of the output has closed the pipe; errors after that do not count. */
export async function untilStopped(context: Context, run: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const signals = context.onSignal(['SIGINT', 'SIGTERM', 'SIGHUP'], () => {
    stop.abort();
  });
  void context.stdout.broken.then(() => {
    stop.abort();
  });
  try {
    await run(stop.signal);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    signals[Symbol.dispose]();
  }
}
