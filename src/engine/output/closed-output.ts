import type { PipeFeed } from './pipe-feed.js';

/** What is needed to notice that nobody can write to an output any more. */
export interface ClosedOutputOptions {
  readonly feed: PipeFeed;
  /** How long the program may go on then, in milliseconds; undefined for as long as it likes. */
  readonly graceMs: number | undefined;
  /** Resolves when the program has the output open. */
  readonly started: Promise<void>;
  /** Whether the program still runs: after that the pipe may be another's. */
  readonly isRunning: () => boolean;
}

/** Listens to an output, and tells when it has been closed for a while. What closes it and opens it again goes on. */
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
  // One that was closed before somebody listened is not told of.
  void started.then(() => {
    if (isRunning() && feed.drain() === 'free') onClosed();
  });
}
