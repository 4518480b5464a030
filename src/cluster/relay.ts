import { ROUTES } from '../core/cluster/routes.js';
import type { ClusterMetrics } from '../core/metrics/metrics.js';
import type { Traces } from '../core/traces/traces.js';
import type { ReceivedRequest, RoutedReply } from '../services/ports/cluster-port.js';
import { answeredBy } from './replies.js';
import type { SessionNode } from './session-nodes.js';

/** In what a request that is sent on differs from the one that was received. */
interface Changes {
  /** Fields that replace those of the client. */
  readonly fields?: object | undefined;
  /** Id that was reserved for the session that it opens. */
  readonly reserved?: string | undefined;
}

/** Has a node answer a request; never rejects. */
export type Relay = (node: SessionNode, received: ReceivedRequest, changes?: Changes) => Promise<RoutedReply>;

/** What shows the requests that are sent on. */
export interface RelayRecorders {
  readonly traces: Pick<Traces, 'relay'>;
  readonly metrics: ClusterMetrics;
}

/** Has this node answer requests, or sends them to workers: each within a span of its own, and counted. */
export const makeRelay =
  ({ traces, metrics }: RelayRecorders): Relay =>
  async (node, received, { fields, reserved } = {}) => {
    if (node.isHere) {
      const caller = reserved === undefined ? {} : { reservedSessionId: reserved };
      return { reply: await received.answerHere(fields, caller), isRecorded: false };
    }
    const { name, caller, trace: clientTrace } = received;
    const payload = fields ? { ...(received.payload as object), ...fields } : received.payload;
    const { repeat } = ROUTES[name];
    const startedAt = performance.now();
    const about = { name, node: node.name, trace: clientTrace };
    const reply = await traces.relay(about, (trace) =>
      node.link.request({ name, payload, caller, repeat, trace, reserved }),
    );
    const tookMs = performance.now() - startedAt;
    // The client does not wait for its statistics.
    setImmediate(() => {
      metrics.requestRelayed('error' in reply ? reply.error.code : 'ok', tookMs);
    });
    return answeredBy(reply);
  };
