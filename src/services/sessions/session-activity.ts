import type { SessionRecord } from '../registry/session-registry.js';

/** Restarts the idle time of a session after a command was run or has ended. */
export function touch(record: SessionRecord): void {
  record.lastUsedAt = new Date();
  // A client that uses the session without following it still counts as present.
  if (record.abandonedSince !== undefined) {
    record.abandonedSince = record.channel.followers > 0 ? undefined : performance.now();
  }
  record.lastUsedTicks = performance.now();
}
