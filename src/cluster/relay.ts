import { AdapterError, type ErrorCode } from '../core/errors.js';
import type { Metrics } from '../core/metrics.js';
import type { Traces } from '../core/traces.js';
import { REQUEST_FACTS } from '../core/protocol/request-facts.js';
import type { WarningCode } from '../core/warnings.js';
import { bodyOf, type HttpAnswer } from '../services/http-exchange.js';
import type { PassedExchange, PassedRequest, ReceivedRequest, RoutedReply } from '../services/cluster-port.js';
import type { LinkReply } from './links/link-types.js';
import type { SessionNode } from './placement.js';
import type { Worker } from './workers.js';

/** The node that has refused a request since it is drained; undefined for other replies. */
export const refusingNode = (answer: RoutedReply): string | undefined => nodeIn(answer, ['NODE_DRAINING']);

/** The same, and the node that a request was not sent to, since it cannot be connected to. */
export const unusedNode = (answer: RoutedReply): string | undefined =>
  nodeIn(answer, ['NODE_DRAINING', 'NODE_UNREACHABLE']);

function nodeIn({ reply }: RoutedReply, codes: readonly ErrorCode[]): string | undefined {
  if (!('error' in reply) || !codes.includes(reply.error.code)) return undefined;
  const { node } = (reply.error.details ?? {}) as { readonly node?: unknown };
  return typeof node === 'string' ? node : undefined;
}

/** The answer of other nodes. */
const answeredBy = (reply: LinkReply): RoutedReply => ({ reply, isRecorded: !isOfThisNode(reply) });

/** Says of a command that could not be sent now that it may have run: it was sent before. */
export function withEarlierTry(answer: RoutedReply): RoutedReply {
  const { reply } = answer;
  if (!('error' in reply) || reply.error.code !== 'NODE_UNREACHABLE') return answer;
  const details = { ...(reply.error.details as object | undefined), maybe_executed: true };
  const message = `${reply.error.message}; the command was sent there before, and may have been done`;
  return { ...answer, reply: { error: { ...reply.error, message, details } } };
}

/** Says that another gateway may have run the same command: the registry could not be asked. */
export function withNoClaim(answer: RoutedReply): RoutedReply {
  const { reply } = answer;
  if ('error' in reply || !('warnings' in reply)) return answer;
  const code: WarningCode = 'NO_CLAIM';
  const message =
    'the registry of the cluster does not answer: if the same command_id is sent to another node, the command may run twice';
  return { ...answer, reply: { ...reply, warnings: [...(reply.warnings ?? []), { code, message }] } };
}

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

/** Has a node answer a request; never rejects. */
export type Relay = (node: SessionNode, received: ReceivedRequest, changes?: Changes) => Promise<RoutedReply>;

/** What shows the requests that are sent on. */
export interface RelayRecorders {
  readonly traces: Traces;
  readonly metrics: Metrics;
}

function countRelayed(metrics: Metrics, outcome: 'ok' | ErrorCode, tookMs: number): void {
  metrics.count('cluster_relayed_requests_total', { outcome });
  metrics.observe('cluster_relay_seconds', tookMs / 1000, {});
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
    const { repeat } = REQUEST_FACTS[name];
    const startedAt = performance.now();
    const about = { name, node: node.name, trace: clientTrace };
    const reply = await traces.relay(about, (trace) =>
      node.link.request({ name, payload, caller, repeat, trace, reserved }),
    );
    const tookMs = performance.now() - startedAt;
    // The client does not wait for its statistics.
    setImmediate(() => {
      countRelayed(metrics, 'error' in reply ? reply.error.code : 'ok', tookMs);
    });
    return answeredBy(reply);
  };

/** The worker of a request over HTTP. */
export interface PassedTo {
  readonly worker: Worker;
  /** Whether it was chosen for the request, which is a part of its load then. */
  readonly isPlaced: boolean;
}

/** Passes a request over HTTP on to a worker. */
type Pass = (to: PassedTo, request: PassedRequest, exchange: PassedExchange) => Promise<HttpAnswer>;

/** Passes requests over HTTP on, each within a span of its own, and counts them. The time is that until the answer begins. */
export const makePass =
  ({ traces, metrics }: RelayRecorders): Pass =>
  async ({ worker, isPlaced }, { name, caller, trace }, exchange) => {
    const end = isPlaced ? worker.begin() : () => undefined;
    const startedAt = performance.now();
    const count = (outcome: 'ok' | ErrorCode) => {
      countRelayed(metrics, outcome, performance.now() - startedAt);
    };
    try {
      const about = { name, node: worker.name, trace };
      const answer = await traces.relay(about, (own) => worker.http.send({ caller, trace: own, exchange }));
      count('ok');
      bodyOf(answer).once('close', end);
      return answer;
    } catch (error) {
      count(error instanceof AdapterError ? error.code : 'INTERNAL');
      end();
      throw error;
    }
  };

/** The way to another node; undefined for what this node answers. */
export const passedTo = (node: SessionNode, isPlaced = false): PassedTo | undefined =>
  node.isHere ? undefined : { worker: node, isPlaced };
