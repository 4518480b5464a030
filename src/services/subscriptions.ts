import type { Role } from '../core/principal.js';
import { AdapterError } from '../core/errors.js';
import { LastingProblem, type Log } from '../core/log.js';
import { rolesFor } from '../core/protocol/permissions.js';
import type { Answer, Request, RequestName } from '../core/protocol/requests.js';
import { DEFAULT_TICK_MS, type Topic } from '../core/protocol/requests/subscriptions.js';
import { type Caller, type EventSink, sinkFor } from './registry/caller.js';
import { Lane } from './registry/outbox.js';
import type { Feed, Source, Subscriber } from './subscription-sources.js';

/** Topics for the roles that may make a request; the others are for all roles. */
const SAME_ROLES: { readonly [T in Topic]?: RequestName } = { audit: 'read_audit', nodes: 'list_nodes' };

/** @throws AdapterError FORBIDDEN for a topic that the role may not see */
function assertMayFollow(topics: readonly Topic[], role: Role): void {
  for (const topic of topics) {
    const request = SAME_ROLES[topic];
    if (request !== undefined && !rolesFor(request).includes(role)) throw topicForbidden(topic, role, request);
  }
}

function topicForbidden(topic: Topic, role: Role, request: RequestName): AdapterError {
  const needs = rolesFor(request);
  const message = `the topic ${topic} needs one of the roles ${needs.join(', ')}; this connection has the role ${role}`;
  return new AdapterError('FORBIDDEN', message, { details: { topic, role, needs: [...needs] } });
}

/** The error of a subscription to the nodes of a daemon alone. */
const noNodes = (): AdapterError =>
  new AdapterError('INVALID_REQUEST', 'topics: nodes is not available on this daemon, which has no nodes', {
    details: { field: 'topics' },
  });

/** Subscribers whose ticks are this close together share a look, in milliseconds. */
const SHARED_MS = 50;

interface Subscription {
  readonly feeds: ReadonlyMap<Topic, Feed>;
  readonly lane: Lane;
}

/** Sends clients what has changed, at most one event of each topic in an interval. Costs nothing without subscribers. */
export class Subscriptions implements Disposable {
  readonly #sources: Readonly<Record<Topic, Source>>;
  /** False when the daemon records nothing. */
  readonly #isAudited: boolean;
  /** False for a daemon alone. */
  readonly #hasNodes: boolean;
  readonly #log: Log;
  readonly #subscriptions = new Map<string, Subscription>();
  /** When each topic was looked at last, on the monotonic clock; only of topics with subscribers. */
  readonly #lookedAt = new Map<Topic, number>();
  readonly #problems = new Map<Topic, LastingProblem>();

  constructor(sources: Readonly<Record<Topic, Source>>, isAudited: boolean, hasNodes: boolean, log: Log) {
    this.#sources = sources;
    this.#isAudited = isAudited;
    this.#hasNodes = hasNodes;
    this.#log = log;
  }

  /**
   * Replaces the subscription of a client.
   * @throws AdapterError INVALID_REQUEST for a caller without events, and for the topic `nodes` of a daemon alone; FORBIDDEN
   *   for topics that the role may not see
   */
  subscribe({ topics, interval_ms = DEFAULT_TICK_MS }: Request<'subscribe'>, caller: Caller): Answer<'subscribe'> {
    const { principal } = caller;
    const sink = sinkFor('subscribe', caller);
    assertMayFollow(topics, principal.role);
    if (topics.includes('nodes') && !this.#hasNodes) throw noNodes();
    const granted = [...new Set(topics)].filter((topic) => topic !== 'audit' || this.#isAudited);
    this.#remove(sink.id);
    if (granted.length > 0) this.#add({ principal, sink }, granted, interval_ms);
    this.#closeUnused();
    return { topics: granted, interval_ms };
  }

  detach(sink: EventSink): void {
    this.#remove(sink.id);
    this.#closeUnused();
  }

  [Symbol.dispose](): void {
    for (const id of [...this.#subscriptions.keys()]) this.#remove(id);
    this.#closeUnused();
  }

  #add(subscriber: Subscriber, topics: readonly Topic[], intervalMs: number): void {
    for (const topic of topics) {
      if (this.#lookedAt.has(topic)) continue;
      this.#lookedAt.set(topic, -Infinity);
      this.#sources[topic].open?.();
    }
    const feeds = new Map(topics.map((topic) => [topic, this.#sources[topic].feed(subscriber)]));
    const lane = new Lane(subscriber.sink, () => {
      const now = performance.now();
      lane.offer(pauseAfter(now, intervalMs));
      for (const [topic, feed] of feeds) void this.#send(topic, feed, now);
    });
    this.#subscriptions.set(subscriber.sink.id, { feeds, lane });
    // The first events come after the answer.
    lane.offer(1);
  }

  async #send(topic: Topic, feed: Feed, now: number): Promise<void> {
    try {
      this.#look(topic, now);
      await feed();
      this.#problems.get(topic)?.succeeded({ topic });
    } catch (error) {
      this.#problemOf(topic).failed(error, { topic });
    }
  }

  #problemOf(topic: Topic): LastingProblem {
    const texts = { level: 'error', begun: 'changes could not be sent', over: 'changes are sent again' } as const;
    const problem = this.#problems.get(topic) ?? new LastingProblem(this.#log, texts);
    this.#problems.set(topic, problem);
    return problem;
  }

  #look(topic: Topic, now: number): void {
    if (now - (this.#lookedAt.get(topic) ?? 0) < SHARED_MS) return;
    this.#lookedAt.set(topic, now);
    this.#sources[topic].look?.();
  }

  #remove(id: string): void {
    this.#subscriptions.get(id)?.lane[Symbol.dispose]();
    this.#subscriptions.delete(id);
  }

  #closeUnused(): void {
    for (const topic of [...this.#lookedAt.keys()]) {
      if ([...this.#subscriptions.values()].some(({ feeds }) => feeds.has(topic))) continue;
      this.#lookedAt.delete(topic);
      this.#sources[topic].close?.();
    }
  }
}

/**
 * Pause until the next tick, in milliseconds. All subscribers with one interval have their ticks at the same time, and
 * share what these cost.
 */
const pauseAfter = (now: number, intervalMs: number): number => (Math.round(now / intervalMs) + 1) * intervalMs - now;
