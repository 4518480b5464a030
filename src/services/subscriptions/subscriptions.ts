import { AdapterError } from '../../core/errors.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import { DEFAULT_TICK_MS, type Topic } from '../../core/protocol/requests/subscriptions.js';
import type { Role } from '../../core/access/roles.js';
import type { Caller, EventSink } from '../registry/caller.js';

/** Roles that may subscribe to the audit log, as for `read_audit`. */
const AUDIT_ROLES: readonly Role[] = ['operator', 'admin'];

/** Dependencies of `Subscriptions`. */
export interface SubscriptionsOptions {
  /** False when the daemon records nothing. */
  readonly isAudited: boolean;
}

/** Sends clients what has changed, at most one event of each topic in an interval. */
export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #subscribers = new Map<string, readonly Topic[]>();

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  /**
   * Replaces the subscription of a client.
   * @throws AdapterError INVALID_REQUEST for a caller without events, and for the topic `nodes`; FORBIDDEN for `audit`
   */
  subscribe({ topics, interval_ms = DEFAULT_TICK_MS }: Request<'subscribe'>, caller: Caller): Answer<'subscribe'> {
    const { sink, principal } = caller;
    if (!sink) throw new AdapterError('INVALID_REQUEST', 'subscribe needs a connection that events can come over');
    if (topics.includes('audit') && !AUDIT_ROLES.includes(principal.role)) throw auditForbidden(principal.role);
    if (topics.includes('nodes')) throw noNodes();
    const granted = [...new Set(topics)].filter((topic) => topic !== 'audit' || this.#options.isAudited);
    if (granted.length === 0) this.#subscribers.delete(sink.id);
    else this.#subscribers.set(sink.id, granted);
    return { topics: granted, interval_ms };
  }

  /** Handles the end of a connection. */
  detach(sink: EventSink): void {
    this.#subscribers.delete(sink.id);
  }
}

const auditForbidden = (role: Role): AdapterError =>
  new AdapterError('FORBIDDEN', `the topic audit needs one of the roles ${AUDIT_ROLES.join(', ')}; this is ${role}`, {
    details: { topic: 'audit', role, needs: [...AUDIT_ROLES] },
  });

const noNodes = (): AdapterError =>
  new AdapterError('INVALID_REQUEST', 'the topic nodes is not available on this daemon: it has no nodes', {
    details: { field: 'topics' },
  });
