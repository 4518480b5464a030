import type { RequestName } from '../core/protocol/requests.js';
import type { Repeat } from '../core/cluster/routes.js';
import type { ClusterMetrics } from '../core/metrics/metrics.js';
import type { TraceCarrier, Traces } from '../core/traces/traces.js';
import type { Caller } from '../services/registry/caller.js';
import type { LinkReply } from './links/link-types.js';
import type { Worker } from './workers.js';

/** A request of a client, for one worker. */
interface RelayedRequest {
  readonly name: RequestName;
  readonly payload: unknown;
  readonly caller: Caller;
  readonly repeat: Repeat;
  /** The trace that the client names. */
  readonly trace: TraceCarrier | undefined;
  /** Id that was reserved for the session that it opens. */
  readonly reserved?: string | undefined;
}

/** Sends a request to a worker; never rejects. */
export type Relay = (worker: Worker, request: RelayedRequest) => Promise<LinkReply>;

/** What shows the requests that are sent on. */
export interface RelayRecorders {
  readonly traces: Pick<Traces, 'relay'>;
  readonly metrics: ClusterMetrics;
}

/** Sends requests to workers, each within a span of its own, and counts them. */
export const makeRelay =
  ({ traces, metrics }: RelayRecorders): Relay =>
  async (worker, request) => {
    const startedAt = performance.now();
    const about = { name: request.name, node: worker.name, trace: request.trace };
    const reply = await traces.relay(about, (trace) => worker.link.request({ ...request, trace }));
    metrics.requestRelayed('error' in reply ? reply.error.code : 'ok', performance.now() - startedAt);
    return reply;
  };
