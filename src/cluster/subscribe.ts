import type { Answer, Request } from '../core/protocol/requests.js';
import type { Topic } from '../core/protocol/requests/subscriptions.js';
import type { ReceivedRequest, RoutedReply } from '../services/ports/cluster-port.js';
import type { EventSink } from '../services/registry/caller.js';
import type { LinkedCaller } from './links/link-types.js';
import type { Worker } from './workers.js';

/** Topics about the machine and the log of the node that the client is connected to. */
const TOPICS_HERE: ReadonlySet<Topic> = new Set(['host', 'audit', 'nodes']);

/** What a client has subscribed to on all workers. */
interface Subscription {
  readonly caller: LinkedCaller;
  readonly topics: readonly Topic[];
  readonly payload: object;
}

/**
 * Subscriptions to what happens on all workers. Each begins with a complete event that names nothing; the state of each
 * worker follows as changes. It is done again when a worker comes or is lost, so that nothing stays that is gone.
 */
export class ClusterSubscriptions {
  readonly #workers: () => readonly Worker[];
  readonly #subscriptions = new Map<string, Subscription>();

  constructor(workers: () => readonly Worker[]) {
    this.#workers = workers;
  }

  /** Subscribes a client to the topics of this node here, and to all others on all workers. */
  async subscribe(received: ReceivedRequest): Promise<RoutedReply> {
    const { topics, interval_ms } = received.request as Request<'subscribe'>;
    const { principal, from, sink } = received.caller;
    const own = await received.answerHere({ topics: topics.filter((topic) => TOPICS_HERE.has(topic)) });
    if ('error' in own || !sink) return { reply: own, isRecorded: false };
    const others = topics.filter((topic) => !TOPICS_HERE.has(topic));
    const payload = { topics: others, ...(interval_ms !== undefined && { interval_ms }) };
    const subscription = { caller: { principal, from, sink }, topics: others, payload };
    const hadSome = this.#subscriptions.has(sink.id);
    if (others.length === 0) this.#subscriptions.delete(sink.id);
    else this.#subscriptions.set(sink.id, subscription);
    if (hadSome || others.length > 0) await this.#begin(subscription);
    const granted = (own as Answer<'subscribe'>).topics;
    return { reply: { ...(own as Answer<'subscribe'>), topics: [...others, ...granted] }, isRecorded: false };
  }

  /** Begins all subscriptions again, after a worker has come or was lost. */
  refresh(): void {
    for (const subscription of this.#subscriptions.values()) void this.#begin(subscription);
  }

  /** Handles the end of a connection. */
  detach(sink: EventSink): void {
    this.#subscriptions.delete(sink.id);
  }

  async #begin({ caller, topics, payload }: Subscription): Promise<void> {
    const { sink } = caller;
    if (topics.includes('sessions')) sink.send('sessions_changed', { sessions: [], closed: [], complete: true });
    if (topics.includes('commands')) sink.send('commands_changed', { commands: [], complete: true });
    if (topics.includes('llm')) sink.send('llm_changed', { calls: [], complete: true });
    const request = { name: 'subscribe', payload, caller, repeat: 'safe' } as const;
    const live = this.#workers().filter(({ isLive }) => isLive);
    await Promise.all(live.map(({ link }) => link.request(request)));
  }
}
