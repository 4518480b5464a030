import type { Log } from '../../core/log.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import type { EventPayload, SessionInfo } from '../../core/protocol/results.js';
import { limitNotification, type Notifications } from '../notifications.js';
import { type Caller, type EventSink, sinkFor } from '../registry/caller.js';
import { Lane } from '../registry/outbox.js';
import { renderBreach } from '../registry/rendered-limits.js';
import type { SessionRecord } from '../registry/session-registry.js';
import type { LimitListener, LiveUsage, ResourceMonitor } from './resource-monitor.js';

/** What a session uses and the most that it has used, in wire format. */
interface RememberedUsage {
  readonly usage: SessionInfo['usage'];
  readonly peaks: SessionInfo['peaks'];
}

const NOTHING: RememberedUsage = {
  usage: null,
  peaks: { cpu_percent: 0, memory_bytes: 0, processes: 0, written_bytes: 0 },
};

/** Remembers the last sample of sessions, and their peaks. A session that was never sampled takes no memory. */
class UsageMemory {
  readonly #known = new Map<string, RememberedUsage>();

  /** The last sample and the peaks of a session. The same object is returned until something has changed. */
  of(sessionId: string): RememberedUsage {
    return this.#known.get(sessionId) ?? NOTHING;
  }

  note(sessionId: string, usage: LiveUsage): void {
    const { peaks } = this.of(sessionId);
    const used = renderUsage(usage);
    this.#known.set(sessionId, {
      usage: { ...used, at: new Date().toISOString() },
      peaks: {
        cpu_percent: Math.max(peaks.cpu_percent, used.cpu_percent),
        memory_bytes: Math.max(peaks.memory_bytes, used.memory_bytes),
        processes: Math.max(peaks.processes, used.processes),
        written_bytes: Math.max(peaks.written_bytes, used.written_bytes),
      },
    });
  }

  /** Notes that nothing runs in a session any more. */
  noteIdle(sessionId: string): void {
    const { usage, peaks } = this.of(sessionId);
    if (usage) this.#known.set(sessionId, { usage: null, peaks });
  }

  forget(sessionId: string): void {
    this.#known.delete(sessionId);
  }
}

const renderUsage = ({ cpuPercent, memoryBytes, tasks, writtenBytes }: LiveUsage): RememberedUsage['peaks'] => ({
  cpu_percent: Math.round(cpuPercent * 10) / 10,
  memory_bytes: memoryBytes,
  processes: tasks,
  written_bytes: writtenBytes,
});

/** A client that follows the usage of a session, at its own interval. */
class Follower implements Disposable {
  readonly intervalMs: number;
  readonly #lane: Lane;
  #newest: EventPayload<'resource_usage'> | undefined;
  #sentAt = -Infinity;

  /** @param intervalMs minimum time between two events, in milliseconds */
  constructor(sink: EventSink, intervalMs: number) {
    this.intervalMs = intervalMs;
    this.#lane = new Lane(sink, () => {
      this.#sentAt = performance.now();
      if (this.#newest) sink.send('resource_usage', this.#newest);
    });
  }

  tell(usage: EventPayload<'resource_usage'>): void {
    this.#newest = usage;
    this.#lane.offer(this.#sentAt + this.intervalMs - performance.now());
  }

  /** Drops what was not sent yet. */
  [Symbol.dispose](): void {
    this.#lane[Symbol.dispose]();
  }
}

/** Clients that follow the resource usage of sessions. */
class UsageFollowers {
  /** Followers by session id and client id. */
  readonly #followers = new Map<string, Map<string, Follower>>();

  add(sessionId: string, sink: EventSink, intervalMs: number): void {
    this.remove(sink, sessionId);
    const followers = this.#followers.get(sessionId) ?? new Map<string, Follower>();
    this.#followers.set(sessionId, followers);
    followers.set(sink.id, new Follower(sink, intervalMs));
  }

  /**
   * Removes a follower.
   * @param sessionId one session; all sessions when undefined
   */
  remove(sink: EventSink, sessionId?: string): void {
    for (const [id, followers] of this.#followers) {
      if (sessionId !== undefined && sessionId !== id) continue;
      followers.get(sink.id)?.[Symbol.dispose]();
      followers.delete(sink.id);
      if (followers.size === 0) this.#followers.delete(id);
    }
  }

  forget(sessionId: string): void {
    this.dropWaiting(sessionId);
    this.#followers.delete(sessionId);
  }

  /** Drops what was not sent yet: nothing runs in the session any more. */
  dropWaiting(sessionId: string): void {
    for (const follower of this.#followers.get(sessionId)?.values() ?? []) follower[Symbol.dispose]();
  }

  /** The shortest interval of a session's followers, in milliseconds. */
  intervalOf(sessionId: string): number | undefined {
    const followers = this.#followers.get(sessionId);
    return followers && Math.min(...[...followers.values()].map(({ intervalMs }) => intervalMs));
  }

  tell(sessionId: string, usage: LiveUsage): void {
    const followers = this.#followers.get(sessionId);
    if (!followers) return;
    const { commandId: command_id, cpuMs } = usage;
    const event = { session_id: sessionId, command_id, cpu_ms: Math.round(cpuMs), ...renderUsage(usage) };
    for (const follower of followers.values()) follower.tell(event);
  }
}

/** Resource usage of sessions: has their limits enforced, and sends usage to the clients that follow it. */
export class SessionUsage {
  readonly #monitor: ResourceMonitor;
  readonly #log: Log;
  readonly #notifier: Notifications;
  readonly #followers = new UsageFollowers();
  readonly #memory = new UsageMemory();

  constructor(monitor: ResourceMonitor, log: Log, notifier: Notifications) {
    this.#monitor = monitor;
    this.#log = log;
    this.#notifier = notifier;
  }

  /** Monitors a session with a long-running command. */
  watch(record: SessionRecord): void {
    this.#monitor.watch(record.session.watched, this.#listenerFor(record));
  }

  /** Starts or stops sending a session's resource usage to a client. */
  follow(
    { id, session }: SessionRecord,
    { interval_ms }: Request<'watch_resources'>,
    caller: Caller,
  ): Answer<'watch_resources'> {
    const sink = sinkFor('watch_resources', caller);
    if (interval_ms === 0) this.#followers.remove(sink, id);
    else this.#followers.add(id, sink, interval_ms);
    this.#monitor.hasten(session.watched);
    return { session_id: id, interval_ms };
  }

  /** The last sample and the peaks of a session. */
  of({ id }: SessionRecord): RememberedUsage {
    return this.#memory.of(id);
  }

  remove(sink: EventSink): void {
    this.#followers.remove(sink);
  }

  forget({ id, session }: SessionRecord): void {
    this.#monitor.forget(session.watched);
    this.#followers.forget(id);
    this.#memory.forget(id);
  }

  #listenerFor({ id, channel }: SessionRecord): LimitListener {
    return {
      onNear: (breach, level, command_id) => {
        channel.announce('resource_warning', { session_id: id, command_id, level, ...renderBreach(breach) });
        if (level !== 'exceeded') return;
        this.#log.warn('a limit was exceeded', { session_id: id, command_id, ...breach });
        // The end of a command reports its own.
        if (command_id === null) this.#notifier.notify(limitNotification(breach, { sessionId: id }));
      },
      onUsage: (usage) => {
        this.#memory.note(id, usage);
        this.#followers.tell(id, usage);
      },
      onIdle: () => {
        this.#followers.dropWaiting(id);
        this.#memory.noteIdle(id);
      },
      wantedIntervalMs: () => this.#followers.intervalOf(id),
    };
  }
}
