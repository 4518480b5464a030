import type { PipeFeed } from './pipe-feed.js';

/** Dependencies of `listenUntilClosed`. */
export interface ClosedOutputOptions {
  readonly feed: PipeFeed;
  /** How long the program may go on after the output is closed, in milliseconds; undefined for no limit. */
  readonly graceMs: number | undefined;
  /** Resolves when the program has the output open. */
  readonly started: Promise<void>;
  /** Whether the program still runs: afterwards the pipe may belong to another command. */
  readonly isRunning: () => boolean;
}

/**
 * Listens to an output, and reports when it has stayed closed for the grace period. A program that closes and reopens
 * it may go on.
 */
export function listenUntilClosed(
  { feed, graceMs, started, isRunning }: ClosedOutputOptions,
  onExpired: () => void,
): void {
  if (graceMs === undefined) {
    feed.listen();
    return;
  }
  const expire = () => {
    if (isRunning() && feed.drain() === 'free') onExpired();
  };
  const onClosed = () => {
    setTimeout(expire, graceMs).unref();
  };
  const listen = () => {
    feed.listen(() => {
      onClosed();
      listen();
    });
  };
  listen();
  // A close before the listener was attached raises no event.
  void started.then(() => {
    if (isRunning() && feed.drain() === 'free') onClosed();
  });
}
