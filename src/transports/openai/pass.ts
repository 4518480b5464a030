import { Readable } from 'node:stream';

import type { FastifyReply, FastifyRequest } from 'fastify';

import { passedRequestHeaders } from '../../core/cluster/passed-headers.js';
import type { HttpAnswer } from '../../services/exchange/http-exchange.js';
import type { ClusterPort, PassedExchange } from '../../services/ports/cluster-port.js';
import type { Admitted } from '../http/authentication.js';
import { goneSignal } from '../http/gone-signal.js';
import { traceIn } from '../http/trace-headers.js';

/** A request that another node may answer. */
export interface PassedCompletion extends Admitted {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly repeatKey?: string | undefined;
}

/**
 * Has another node answer a request, placed as `llm_call` is; undefined when it is answered here.
 * @throws AdapterError NO_CAPACITY, NODE_UNREACHABLE, NODE_LOST
 */
export async function passOn(
  { request, reply, repeatKey, caller, ended, isEncrypted }: PassedCompletion,
  cluster: Pick<ClusterPort, 'passageFor'>,
): Promise<HttpAnswer | undefined> {
  const trace = traceIn(request.headers);
  const passage = cluster.passageFor({ name: 'llm_call', request: {}, caller, trace, repeatKey });
  return passage?.send({ ...contentOf(request), isEncrypted, gone: goneSignal(request, reply, ended) });
}

/** What goes on of a request, whose body has been read. */
function contentOf({ raw, body }: FastifyRequest): Pick<PassedExchange, 'method' | 'path' | 'headers' | 'body'> {
  const { method = 'GET', url: path = '' } = raw;
  const headers = passedRequestHeaders(raw.headers);
  if (method === 'GET') return { method, path, headers, body: undefined };
  const text = Buffer.from(JSON.stringify(body));
  delete headers['transfer-encoding'];
  return { method, path, headers: { ...headers, 'content-length': String(text.length) }, body: Readable.from([text]) };
}
