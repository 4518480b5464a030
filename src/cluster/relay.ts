import type { RequestName } from '../core/protocol/requests.js';
import type { Repeat } from '../core/cluster/routes.js';
import type { TraceCarrier, Traces } from '../core/traces/traces.js';
import type { Caller } from '../services/registry/caller.js';
import type { LinkReply } from './link-types.js';
import type { Worker } from './workers.js';

/** A request of a client, for one worker. */
export interface RelayedRequest {
  readonly name: RequestName;
  readonly payload: unknown;
  readonly caller: Caller;
  readonly repeat: Repeat;
  /** The trace that the client names. */
  readonly trace: TraceCarrier | undefined;
}

/** Sends a request to a worker; never rejects. */
export type Relay = (worker: Worker, request: RelayedRequest) => Promise<LinkReply>;

/** Sends requests to workers, each within a span of its own. */
export const makeRelay =
  (traces: Pick<Traces, 'relay'>): Relay =>
  (worker, request) =>
    traces.relay({ name: request.name, node: worker.name, trace: request.trace }, (trace) =>
      worker.link.request({ ...request, trace }),
    );
