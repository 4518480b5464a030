import type { EventSink } from '../registry/caller.js';
import type { LiveUsage } from '../limits/limit-listener.js';
import { renderUsage } from './usage-memory.js';

interface Follower {
  readonly sink: EventSink;
  readonly intervalMs: number;
  lastAt: number;
}

/** Clients that follow the resource usage of sessions, each at its own interval. */
export class UsageFollowers {
  /** Followers by session id and client id. */
  readonly #followers = new Map<string, Map<string, Follower>>();

  /**
   * Adds a follower.
   * @param intervalMs minimum time between two events, in milliseconds
   */
  add(sessionId: string, sink: EventSink, intervalMs: number): void {
    const followers = this.#followers.get(sessionId) ?? new Map<string, Follower>();
    this.#followers.set(sessionId, followers);
    followers.set(sink.id, { sink, intervalMs, lastAt: -Infinity });
  }

  /**
   * Removes a follower.
   * @param sessionId one session; all sessions when undefined
   */
  remove(sink: EventSink, sessionId?: string): void {
    for (const [id, followers] of this.#followers) {
      if (sessionId !== undefined && sessionId !== id) continue;
      followers.delete(sink.id);
      if (followers.size === 0) this.#followers.delete(id);
    }
  }

  /** Handles the end of a session. */
  forget(sessionId: string): void {
    this.#followers.delete(sessionId);
  }

  /** The shortest interval of a session's followers, in milliseconds. */
  intervalOf(sessionId: string): number | undefined {
    const followers = this.#followers.get(sessionId);
    return followers && Math.min(...[...followers.values()].map(({ intervalMs }) => intervalMs));
  }

  /** Sends usage to the followers whose interval has passed. */
  tell(sessionId: string, usage: LiveUsage): void {
    const now = performance.now();
    for (const follower of this.#followers.get(sessionId)?.values() ?? []) {
      // Samples are taken a little early or late.
      if (now - follower.lastAt < follower.intervalMs * EARLY_SHARE) continue;
      follower.lastAt = now;
      follower.sink.send('resource_usage', {
        session_id: sessionId,
        command_id: usage.commandId,
        cpu_ms: Math.round(usage.cpuMs),
        ...renderUsage(usage),
      });
    }
  }
}

/** Share of an interval after which a sample counts as on time. */
const EARLY_SHARE = 0.9;
