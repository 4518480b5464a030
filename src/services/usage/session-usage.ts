import { AdapterError } from '../../core/errors.js';
import type { Log } from '../../core/logging/log.js';
import type { Notifier } from '../../core/notifications/notification.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import type { Caller, EventSink } from '../registry/caller.js';
import { renderBreach } from '../registry/rendered-limits.js';
import { limitNotification } from '../notifications/limit-notification.js';
import type { ResourceMonitor } from '../limits/resource-monitor.js';
import type { LimitListener } from '../limits/limit-listener.js';
import type { SessionRecord } from '../registry/session-registry.js';
import { type RememberedUsage, UsageMemory } from './usage-memory.js';
import { UsageFollowers } from './usage-followers.js';

/** Resource usage of sessions: has their limits enforced, and sends usage to the clients that follow it. */
export class SessionUsage {
  readonly #monitor: ResourceMonitor;
  readonly #log: Log;
  readonly #notifier: Notifier;
  readonly #followers = new UsageFollowers();
  readonly #memory = new UsageMemory();

  constructor(monitor: ResourceMonitor, log: Log, notifier: Notifier) {
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
    { sink }: Caller,
  ): Answer<'watch_resources'> {
    if (!sink)
      throw new AdapterError(
        'INVALID_REQUEST',
        'watch_resources needs a connection that events can come over; over HTTP, send Accept: text/event-stream',
      );
    if (interval_ms === 0) this.#followers.remove(sink, id);
    else this.#followers.add(id, sink, interval_ms);
    this.#monitor.hasten(session.watched);
    return { session_id: id, interval_ms };
  }

  /** The last sample and the peaks of a session. */
  of({ id }: SessionRecord): RememberedUsage {
    return this.#memory.of(id);
  }

  /** Handles the end of a connection. */
  remove(sink: EventSink): void {
    this.#followers.remove(sink);
  }

  /** Handles the end of a session. */
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
        this.#memory.noteIdle(id);
      },
      wantedIntervalMs: () => this.#followers.intervalOf(id),
    };
  }
}
