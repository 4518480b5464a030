import { canAccess } from '../../core/access/principal.js';
import { ChangeTracker } from '../../core/changes/change-tracker.js';
import type { EventPayload } from '../../core/protocol/results.js';
import type { SessionRecord, SessionRegistry } from '../registry/session-registry.js';
import type { SessionDescriptions } from '../sessions/session-description.js';
import { type Feed, limited, type Source, type Subscriber } from './source.js';

/** A session that has ended. */
interface ClosedSession {
  /** Id of the principal that owned it. */
  readonly owner: string;
  readonly end: EventPayload<'sessions_changed'>['closed'][number];
}

/** The changes of sessions: sessions are compared by their stamps, and described only if they have changed. */
export class SessionSource implements Source {
  readonly #registry: SessionRegistry;
  readonly #descriptions: SessionDescriptions;
  #open = new ChangeTracker<SessionRecord>();
  #closed = new ChangeTracker<ClosedSession>();

  constructor(registry: SessionRegistry, descriptions: SessionDescriptions) {
    this.#registry = registry;
    this.#descriptions = descriptions;
  }

  look(): void {
    for (const record of this.#registry.all()) this.#open.note(record, this.#descriptions.stampOf(record));
    for (const record of this.#open.items) {
      if (this.#registry.find(record.id) === record) continue;
      this.#open.forget(record);
      this.#noteClosed(record);
    }
  }

  close(): void {
    this.#open = new ChangeTracker();
    this.#closed = new ChangeTracker();
  }

  feed({ principal, sink }: Subscriber): Feed {
    let isFirst = true;
    let open = 0;
    let closed = this.#closed.revision;
    return () => {
      const isSeen = (owner: string) => canAccess(principal, owner, 'see');
      const changed = this.#open.changedSince(open).filter(({ owner }) => isSeen(owner.id));
      const gone = this.#closed.changedSince(closed).filter(({ owner }) => isSeen(owner));
      open = this.#open.revision;
      closed = this.#closed.revision;
      if (!isFirst && changed.length === 0 && gone.length === 0) return;
      const { entries, mark } = limited(changed);
      sink.send('sessions_changed', {
        sessions: entries.map((record) => this.#descriptions.describe(record)),
        closed: gone.map(({ end }) => end),
        ...(isFirst && { complete: true as const }),
        ...mark,
      });
      isFirst = false;
    };
  }

  #noteClosed({ id, owner }: SessionRecord): void {
    const { reason = 'client', detail = '' } = this.#registry.endOf(id) ?? {};
    const closed = { owner: owner.id, end: { session_id: id, reason, detail } };
    this.#closed.note(closed, []);
    this.#closed.retire(closed);
  }
}
