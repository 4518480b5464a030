import { json } from 'node:stream/consumers';

import { AdapterError, type ErrorCode } from '../core/errors.js';
import type { Metrics } from '../core/metrics.js';
import type { TraceCarrier, Traces } from '../core/traces.js';
import { REQUEST_FACTS } from '../core/protocol/request-facts.js';
import type { ForwardedAnswer } from '../services/http-exchange.js';
import type { HttpRequest, ReceivedRequest, RoutedReply } from '../services/cluster-port.js';
import type { LinkReply } from './link-clients.js';
import type { SessionNode } from './placement.js';
import type { Worker } from './workers.js';

/** Errors of this node itself, which no worker has recorded. */
const isOfThisNode = (reply: LinkReply): boolean =>
  'error' in reply && (reply.error.code === 'NODE_LOST' || reply.error.code === 'NODE_UNREACHABLE');

/** In what a request that is sent on differs from the one that was received. */
interface Changes {
  /** Fields that replace those of the client. */
  readonly fields?: object | undefined;
  /** Id that was reserved for the session that it opens. */
  readonly reserved?: string | undefined;
}

/** Has a node answer a request. Rejects only for one over HTTP that a worker does not answer, with an AdapterError. */
export type Relay = (node: SessionNode, received: ReceivedRequest, changes?: Changes) => Promise<RoutedReply>;

/** What shows the requests that are sent on. */
export interface RelayRecorders {
  readonly traces: Traces;
  readonly metrics: Metrics;
}

/**
 * Has this node answer requests, or sends them to workers as they came, as messages or over HTTP: each within a span of its
 * own, and counted. The time of a request over HTTP is that until its answer begins.
 */
export const makeRelay =
  (recorders: RelayRecorders): Relay =>
  async (node, received, { fields, reserved } = {}) => {
    if (node.isHere) {
      const caller = reserved === undefined ? {} : { reservedSessionId: reserved };
      return { reply: await received.answerHere(fields, caller), isRecorded: false };
    }
    const { name, payload, caller } = received;
    const http = received.http?.();
    if (http) {
      const answer = await recorded(recorders, node, received, (trace) => node.http.send({ caller, trace, http }));
      return { reply: await replyIn(answer, http), isRecorded: true };
    }
    const { repeat } = REQUEST_FACTS[name];
    const sent = fields ? { ...(payload as object), ...fields } : payload;
    const reply = await recorded(recorders, node, received, (trace) =>
      node.link.request({ name, payload: sent, caller, repeat, trace, reserved }),
    );
    return { reply, isRecorded: !isOfThisNode(reply) };
  };

/** Sends a request to a worker within a span of its own, and counts it. */
async function recorded<T extends LinkReply | ForwardedAnswer>(
  { traces, metrics }: RelayRecorders,
  { name: node }: Worker,
  { name, trace }: ReceivedRequest,
  send: (trace: TraceCarrier | undefined) => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  const count = (outcome: 'ok' | ErrorCode) => {
    const tookMs = performance.now() - startedAt;
    // The client does not wait for its statistics.
    setImmediate(() => {
      metrics.count('cluster_relayed_requests_total', { outcome });
      metrics.observe('cluster_relay_seconds', tookMs / 1000, {});
    });
  };
  try {
    const reply = await traces.relay({ name, node, trace }, send);
    count('error' in reply ? reply.error.code : 'ok');
    return reply;
  } catch (error) {
    count(error instanceof AdapterError ? error.code : 'INTERNAL');
    throw error;
  }
}

/** The reply of the protocol that an answer over HTTP has as its body; the answer itself where it has none. */
async function replyIn(
  answer: ForwardedAnswer,
  { hasReply = () => false }: HttpRequest,
): Promise<LinkReply | ForwardedAnswer> {
  const { response } = answer;
  if (!hasReply(response.statusCode ?? 502)) return answer;
  try {
    return (await json(response)) as LinkReply;
  } catch (cause) {
    // The connection has broken within the answer.
    throw new AdapterError('NODE_LOST', `the answer of the node cannot be read: ${(cause as Error).message}`, {
      details: { retry_safe: false, maybe_executed: true },
      cause,
    });
  }
}
