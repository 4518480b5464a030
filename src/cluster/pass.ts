import { AdapterError } from '../core/errors.js';
import { bodyOf, type HttpAnswer } from '../services/exchange/http-exchange.js';
import type { PassedExchange, PassedRequest } from '../services/ports/cluster-port.js';
import type { RelayRecorders } from './relay.js';
import type { SessionNode } from './session-nodes.js';
import type { Worker } from './workers.js';

/** The worker of a request over HTTP. */
export interface PassedTo {
  readonly worker: Worker;
  /** Whether it was chosen for the request, which is a part of its load then. */
  readonly isPlaced: boolean;
}

/** Passes a request over HTTP on to a worker. */
export type Pass = (to: PassedTo, request: PassedRequest, exchange: PassedExchange) => Promise<HttpAnswer>;

/** Passes requests over HTTP on, each within a span of its own, and counts them. The time is that until the answer begins. */
export const makePass =
  ({ traces, metrics }: RelayRecorders): Pass =>
  async ({ worker, isPlaced }, { name, caller, trace }, exchange) => {
    const end = isPlaced ? worker.begin() : () => undefined;
    const startedAt = performance.now();
    const count = (outcome: Parameters<RelayRecorders['metrics']['requestRelayed']>[0]) => {
      metrics.requestRelayed(outcome, performance.now() - startedAt);
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
