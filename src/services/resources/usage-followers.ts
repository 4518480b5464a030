import type { EventPayload } from '../../core/protocol/results.js';
import type { EventSink } from '../registry/caller.js';
import type { LiveUsage } from './limit-monitor.js';

interface Follower {
  readonly sink: EventSink;
  readonly intervalMs: number;
  lastAt: number;
}

/** Clients that want to see what sessions use, each as often as it likes. */
export class UsageFollowers {
  /** By session and client. */
  readonly #followers = new Map<string, Map<string, Follower>>();

  /** @param intervalMs between two events at least */
  add(sessionId: string, sink: EventSink, intervalMs: number): void {
    const followers = this.#followers.get(sessionId) ?? new Map<string, Follower>();
    this.#followers.set(sessionId, followers);
    followers.set(sink.id, { sink, intervalMs, lastAt: -Infinity });
  }

  /** @param sessionId by default all */
  remove(sink: EventSink, sessionId?: string): void {
    for (const [id, followers] of this.#followers) {
      if (sessionId !== undefined && sessionId !== id) continue;
      followers.delete(sink.id);
      if (followers.size === 0) this.#followers.delete(id);
    }
  }

  /** A session has ended. */
  forget(sessionId: string): void {
    this.#followers.delete(sessionId);
  }

  /** The shortest interval that somebody wants. */
  intervalOf(sessionId: string): number | undefined {
    const followers = this.#followers.get(sessionId);
    return followers && Math.min(...[...followers.values()].map(({ intervalMs }) => intervalMs));
  }

  /** Tells those whose time has come. */
  tell(sessionId: string, usage: LiveUsage): void {
    const now = performance.now();
    for (const follower of this.#followers.get(sessionId)?.values() ?? []) {
      // A look comes a little early or late.
      if (now - follower.lastAt < follower.intervalMs * EARLY_SHARE) continue;
      follower.lastAt = now;
      follower.sink.send('resource_usage', { session_id: sessionId, ...renderUsage(usage) });
    }
  }
}

/** A look so much of an interval after the last one is in time. */
const EARLY_SHARE = 0.9;

/** Live figures, for the wire. */
function renderUsage(usage: LiveUsage): Omit<EventPayload<'resource_usage'>, 'session_id'> {
  return {
    command_id: usage.commandId,
    cpu_percent: Math.round(usage.cpuPercent * 10) / 10,
    cpu_ms: Math.round(usage.cpuMs),
    memory_bytes: usage.memoryBytes,
    processes: usage.tasks,
    written_bytes: usage.writtenBytes,
  };
}
