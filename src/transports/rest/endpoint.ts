import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { AdapterError, type ErrorBody } from '../../core/errors.js';
import type { Log } from '../../core/logging/log.js';
import { fromJsonBytes } from '../../core/rest/json-bytes.js';
import { type RequestName, requests } from '../../core/protocol/requests.js';
import { KeptAnswers } from '../../core/rest/kept-answers.js';
import type { EventSink } from '../../services/registry/caller.js';
import type { Services } from '../../services/services.js';
import { endConnection } from '../connection.js';
import { dispatch, refuseOversized } from '../dispatch.js';
import { originOf, type RequestAuthentication } from '../http/authentication.js';
import { goneSignal } from '../http/gone-signal.js';
import { traceIn } from '../http/trace-headers.js';
import { answerOf, type Asked, type RestAnswer, sendAnswer } from './answer.js';
import { silentSink } from './event-stream-sink.js';
import { fingerprintOf, IDEMPOTENCY_BOUNDS, idempotencyKeyOf } from './idempotency-key.js';
import { streamAnswer } from './stream-answer.js';

const PATH = '/v1/requests/:name';

/**
 * Requests without a sink: those that subscribe a connection are refused without events, and `send_input` is one of many
 * that feed an input, which does not depend on the connection of one of them.
 */
const WITHOUT_SINK: ReadonlySet<string> = new Set<RequestName>([
  'attach_session',
  'subscribe',
  'watch_resources',
  'watch_paths',
  'unwatch_paths',
  'send_input',
]);

/** Dependencies of the endpoint. */
export interface RestEndpointOptions {
  readonly services: Services;
  readonly authentication: RequestAuthentication;
  /**
   * The requests that are served.
   * @default all
   */
  readonly only?: readonly RequestName[] | undefined;
  /** Largest request, in bytes. */
  readonly maxMessageBytes: number;
  readonly log: Log;
}

type NamedRequest = FastifyRequest<{ readonly Params: { readonly name: string } }>;

/**
 * `POST /v1/requests/NAME`: every request of the protocol, with its payload as the body. Bytes are `{ "base64" }`. With
 * `Accept: text/event-stream` the events come before the answer, and after it where it begins a subscription.
 */
export class RestEndpoint {
  readonly #options: RestEndpointOptions;
  readonly #kept = new KeptAnswers<RestAnswer>(IDEMPOTENCY_BOUNDS, () => performance.now());

  constructor(options: RestEndpointOptions) {
    this.#options = options;
  }

  /** Adds the routes. */
  readonly register = (routes: FastifyInstance): void => {
    const { authentication, only, maxMessageBytes: bodyLimit } = this.#options;
    const onRequest = authentication.authenticate;
    const url = only ? `${PATH}(^(?:${only.join('|')})$)` : PATH;
    routes.post(url, { bodyLimit, onRequest, errorHandler: this.#onError }, (request, reply) =>
      this.#answer(request as NamedRequest, reply),
    );
    routes.route({
      method: ['GET', 'PUT', 'PATCH', 'DELETE'],
      url,
      onRequest: (request, reply) => {
        reply.header('allow', 'POST');
        throw new AdapterError('METHOD_NOT_ALLOWED', `requests are sent with POST, not with ${request.method}`);
      },
      handler: () => undefined,
    });
  };

  async #answer(request: NamedRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { services, authentication } = this.#options;
    const { ended } = authentication.grantOf(request);
    const asked = this.#read(request);
    if (request.headers.accept?.includes('text/event-stream') === true) {
      return streamAnswer(asked, { request, reply, ended, services, answer: this.#once });
    }
    const sink = WITHOUT_SINK.has(asked.name) ? undefined : silentSink();
    const end = () => {
      if (sink) endConnection(services, sink);
    };
    const gone = goneSignal(request, reply, ended);
    // A request with a key goes on: its client comes back for the answer.
    if (asked.key === undefined) gone.addEventListener('abort', end, { once: true });
    const answer = await this.#once(asked, sink);
    end();
    return sendAnswer(reply, answer);
  }

  #read({ params: { name }, body, raw, headers }: NamedRequest): Asked {
    const { principal } = this.#options.authentication.grantOf({ raw });
    const schema = Object.hasOwn(requests, name) ? requests[name as RequestName].input : undefined;
    return {
      name,
      payload: withoutConnection(name, schema ? fromJsonBytes(schema, body) : body),
      callerWith: (sink) => ({ principal, sink, from: originOf(raw.socket) }),
      key: idempotencyKeyOf(headers),
      fingerprint: fingerprintOf(name, body),
      trace: traceIn(headers),
    };
  }

  /** Makes a request; one that repeats the key of an earlier one is answered as that one was. Never rejects. */
  readonly #once = async (asked: Asked, sink: EventSink | undefined): Promise<RestAnswer> => {
    const { quotas } = this.#options.services;
    const { name, payload, key, fingerprint, trace } = asked;
    const caller = asked.callerWith(sink);
    const run = async () => answerOf(await dispatch({ ...this.#options, trace }, name, payload, caller));
    if (key === undefined) return run();
    const { principal } = caller;
    const kept = await this.#kept.once({ owner: principal.id, key, fingerprint }, run);
    try {
      if (kept?.isRepeated !== false) quotas.countRequest(principal);
      if (!kept) throw keyReused(key);
      return { ...kept.answer, isRepeated: kept.isRepeated };
    } catch (error) {
      return answerOf({ error: (error as AdapterError).toBody() });
    }
  };

  readonly #onError = (
    error: Error & { readonly statusCode?: number },
    request: FastifyRequest,
    reply: FastifyReply,
  ): void => {
    const { statusCode: status } = error;
    if (status === 413) sendAnswer(reply, answerOf({ error: this.#refuseOversized(request as NamedRequest) }));
    else throw status === 415 ? notJson() : error;
  };

  #refuseOversized({ params: { name }, headers, raw }: NamedRequest): ErrorBody {
    const { maxMessageBytes } = this.#options;
    // The length of a body in chunks is not known: it was read up to the maximum.
    const bytes = Math.max(maxMessageBytes + 1, Number(headers['content-length'] ?? 0));
    const { principal } = this.#options.authentication.grantOf({ raw });
    const caller = { principal, sink: undefined, from: originOf(raw.socket) };
    return refuseOversized(this.#options, name, bytes, caller).error;
  }
}

/** No connection stands for a client over HTTP: its sessions live by their use, unless it asks for something else. */
const withoutConnection = (name: string, payload: unknown): unknown =>
  name === 'open_session' && isFields(payload ?? {}) ? { keep_while: 'used', ...(payload as object | null) } : payload;

const isFields = (payload: unknown): boolean => typeof payload === 'object' && !Array.isArray(payload);

const keyReused = (key: string): AdapterError =>
  new AdapterError(
    'IDEMPOTENCY_KEY_REUSED',
    `the Idempotency-Key ${JSON.stringify(key)} belongs to an earlier request with another name or body`,
    { details: { idempotency_key: key } },
  );

const notJson = () =>
  Object.assign(new Error('the body must be JSON, with Content-Type: application/json'), { statusCode: 415 });
