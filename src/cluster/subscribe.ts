import type { Request } from '../core/protocol/requests.js';
import type { Topic } from '../core/protocol/requests/subscriptions.js';
import type { EventName } from '../core/protocol/results.js';
import { Deferred } from '../engine/system/promises.js';
import type { ReceivedRequest, RoutedReply } from '../services/cluster-port.js';
import type { EventSink } from '../services/registry/caller.js';
import type { LinkedCaller } from './link-clients.js';
import type { Worker } from './workers.js';

/** Topics about the machine and the log of the node that the client is connected to. */
const TOPICS_HERE: ReadonlySet<Topic> = new Set(['host', 'audit', 'nodes']);

/** The event whose first one says that it is complete, by its topic. */
const COMPLETE_EVENTS: ReadonlyMap<Topic, EventName> = new Map([
  ['sessions', 'sessions_changed'],
  ['commands', 'commands_changed'],
  ['llm', 'llm_changed'],
]);

/** What a client has subscribed to on all nodes. */
interface Subscription {
  readonly received: ReceivedRequest;
  readonly sink: EventSink;
  /** Topics that other nodes have, too. */
  readonly topics: readonly Topic[];
  /** Ends with the subscription, and when it is begun again. */
  beginning: AbortController;
}

/**
 * Subscriptions to what happens on all nodes. Each begins with the complete events of this node; the state of each other
 * node follows as changes. It is begun again when a node comes or is lost, so that nothing stays that is gone.
 */
export class ClusterSubscriptions {
  readonly #workers: () => readonly Worker[];
  readonly #subscriptions = new Map<string, Subscription>();

  /** @param workers the other nodes */
  constructor(workers: () => readonly Worker[]) {
    this.#workers = workers;
  }

  /** Subscribes a client to its topics of this node, and to those that are about all nodes on the others. */
  async subscribe(received: ReceivedRequest): Promise<RoutedReply> {
    const { sink } = received.caller;
    if (!sink) return { reply: await received.answerHere(), isRecorded: false };
    const topics = (received.request as Request<'subscribe'>).topics.filter((topic) => !TOPICS_HERE.has(topic));
    const subscription = { received, sink, topics, beginning: new AbortController() };
    const { reply, complete } = await beginHere(subscription);
    if ('error' in reply) return { reply, isRecorded: false };
    const earlier = this.#subscriptions.get(sink.id);
    this.detach(sink);
    if (topics.length > 0) this.#subscriptions.set(sink.id, subscription);
    if (earlier || topics.length > 0) await this.#beginElsewhere(subscription, complete);
    return { reply, isRecorded: false };
  }

  refresh(): void {
    for (const subscription of this.#subscriptions.values()) void this.#beginAgain(subscription);
  }

  detach({ id }: EventSink): void {
    this.#subscriptions.get(id)?.beginning.abort();
    this.#subscriptions.delete(id);
  }

  async #beginAgain(subscription: Subscription): Promise<void> {
    subscription.beginning.abort();
    subscription.beginning = new AbortController();
    const { complete } = await beginHere(subscription);
    await this.#beginElsewhere(subscription, complete);
  }

  /** Subscribes on the other nodes: a complete event that came after their first ones would erase these. */
  async #beginElsewhere({ received, sink, topics, beginning }: Subscription, complete: Promise<void>): Promise<void> {
    await complete;
    if (beginning.signal.aborted) return;
    const { interval_ms } = received.request as Request<'subscribe'>;
    const payload = { topics, ...(interval_ms !== undefined && { interval_ms }) };
    const caller: LinkedCaller = { ...received.caller, sink };
    const request = { name: 'subscribe', payload, caller, repeat: 'safe' } as const;
    const live = this.#workers().filter(({ isLive }) => isLive);
    await Promise.all(live.map(({ link }) => link.request(request)));
  }
}

/** Subscribes on this node; `complete` resolves when its complete events have been sent, or the beginning has ended. */
async function beginHere({ received, sink, topics, beginning: { signal } }: Subscription) {
  const missing = new Set(topics.flatMap((topic) => COMPLETE_EVENTS.get(topic) ?? []));
  const complete = new Deferred<void>();
  const resolve = () => {
    complete.resolve();
  };
  signal.addEventListener('abort', resolve, { once: true });
  if (missing.size === 0) resolve();
  const watched: EventSink = {
    id: sink.id,
    send: (name, payload) => {
      sink.send(name, payload);
      if (missing.delete(name) && missing.size === 0) resolve();
    },
    pendingBytes: () => sink.pendingBytes(),
  };
  return { reply: await received.answerHere(undefined, { sink: watched }), complete: complete.promise };
}
