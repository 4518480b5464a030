import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';

import { asyncApiDocument } from '../../core/descriptions/async-api.js';
import { openApiDocument } from '../../core/descriptions/open-api.js';
import { AdapterError, type ErrorBody } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { RequestEntry } from '../../core/protocol/define-requests.js';
import { type RequestName, requests } from '../../core/protocol/requests.js';
import type { EventName } from '../../core/protocol/results.js';
import { fromJsonBytes, KeptAnswers, type KeptBounds } from '../../core/rest.js';
import type { EventSink } from '../../services/registry/caller.js';
import type { Services } from '../../services/services.js';
import { beginConnection, endConnection, onAccessEnd } from '../connection.js';
import { dispatch, refuseOversized } from '../dispatch.js';
import { originOf, type RequestAuthentication } from '../http/authentication.js';
import { EventStream } from '../http/event-stream.js';
import { goneSignal, traceIn, whenOver } from '../http/http-requests.js';
import { answerOf, type Asked, errorIn, EventStreamSink, type RestAnswer, sendAnswer, silentSink } from './answer.js';

/** Longest key, in characters. */
const MAX_KEY_LENGTH = 255;

/** Bounds on the answers that are kept for repeated requests: an hour, and for each token 1000 answers, 16 MiB. */
const IDEMPOTENCY_BOUNDS: KeptBounds = {
  maxAgeMs: 3_600_000,
  maxAnswers: 1000,
  maxCharacters: 16 * 1024 * 1024,
};

/**
 * The header `Idempotency-Key` of a request; undefined without one.
 * @throws AdapterError INVALID_REQUEST for an empty or too long one
 */
function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && key !== '' && key.length <= MAX_KEY_LENGTH) return key;
  throw new AdapterError('INVALID_REQUEST', `Idempotency-Key must be one text of 1 to ${MAX_KEY_LENGTH} characters`);
}

/** Equal for the same request with the same payload. */
const fingerprintOf = (name: string, payload: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify([name, payload]))
    .digest('base64');

type Fields = Readonly<Record<string, unknown>>;

/** Ends a stream when what it is for has ended, which may have been before it is known what that is. */
class StreamEnd {
  readonly #end: () => void;
  readonly #ended = new Set<string>();
  #awaited: string | undefined;

  constructor(end: () => void) {
    this.#end = end;
  }

  /** Notes that something has ended; undefined is harmless. */
  note(name: string | undefined): void {
    if (name === undefined) return;
    this.#ended.add(name);
    if (name === this.#awaited) this.#end();
  }

  /** Waits for the end of something; undefined ends the stream at once. */
  await(name: string | undefined): void {
    this.#awaited = name;
    if (name === undefined || this.#ended.has(name)) this.#end();
  }
}

/** The name of what an event says to have ended; undefined for other events. */
function endNameOf(event: EventName, payload: unknown): string | undefined {
  const { command_id: command, session_id: session, watch_id: watch } = payload as Fields;
  if (event === 'watch_ended') return String(watch);
  if (event === 'command_finished') return String(command);
  return event === 'session_closed' ? String(session) : undefined;
}

/** The name of what a stream goes on for after its answer; undefined when the answer is its end. */
function subscriptionEnd({ name, payload }: Asked, { reply, isRepeated }: RestAnswer): string | undefined {
  // The events of a repeated request go to the connection of the first one.
  if (isRepeated || errorIn(reply)) return undefined;
  return requestOf(name)?.subscribesTo?.(reply, payload as Fields);
}

/** Where an answer goes, and how it is made. */
interface StreamContext {
  /** See `Authentication`. */
  readonly ended: AbortSignal | undefined;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly services: Services;
  /** Never rejects. */
  readonly answer: (asked: Asked, sink: EventSink) => Promise<RestAnswer>;
}

/**
 * Answers a request with server-sent events: those of the protocol, and `NAME_result` with the answer. The stream ends
 * with the answer, or, after one that begins a subscription, with what was subscribed to. An error before any event is
 * sent as JSON, with its status.
 */
async function streamAnswer(given: Asked, context: StreamContext): Promise<FastifyReply> {
  const { reply, services } = context;
  // A client that wants events wants those of its command.
  const asked = { ...given, payload: withDefaults(requestOf(given.name)?.streamDefaults, given.payload) };
  const stream = new EventStream();
  const streamEnd = new StreamEnd(() => {
    stream.end(false);
  });
  const sink = new EventStreamSink(stream, services.secrets.value, (event, payload) => {
    streamEnd.note(endNameOf(event, payload));
  });
  const answering = context.answer(asked, sink);
  attend(asked, { stream, sink, answering }, context);
  const first = await Promise.race([stream.begun, answering]);
  if (first && errorIn(first.reply) && !stream.hasBegun) {
    stream.destroy();
    return sendAnswer(reply, first);
  }
  void answering.then((answer) => {
    stream.sendText(`${asked.name}_result`, answer.text);
    streamEnd.await(subscriptionEnd(asked, answer));
  });
  return reply
    .type('text/event-stream; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('x-accel-buffering', 'no')
    .send(stream.body);
}

/** A stream under way. */
interface Streaming {
  readonly stream: EventStream;
  readonly sink: EventSink;
  readonly answering: Promise<RestAnswer>;
}

/** Keeps the client among the connections until its connection, or its access, ends. */
function attend(asked: Asked, { stream, sink, answering }: Streaming, context: StreamContext): void {
  const { request, reply, services } = context;
  const caller = asked.callerWith(sink);
  beginConnection(services, caller);
  const stopWatching = onAccessEnd(context.ended, (message) => {
    sink.send('access_ended', { message });
    stream.end(false);
  });
  void whenOver(request, reply).then(async () => {
    stopWatching();
    services.connections.remove(caller);
    // A request with a key goes on: its client comes back for the answer.
    if (asked.key !== undefined) await answering;
    endConnection(services, sink);
  });
}

const PATH = '/v1/requests/:name';

const requestOf = (name: string): (RequestEntry & { readonly input: z.ZodObject }) | undefined =>
  Object.hasOwn(requests, name) ? requests[name as RequestName] : undefined;

/** A payload with what it has where the client gives nothing. One that is no mapping is refused later. */
const withDefaults = (defaults: Fields | undefined, payload: unknown): unknown =>
  defaults && typeof (payload ?? {}) === 'object' && !Array.isArray(payload)
    ? { ...defaults, ...(payload as object | null) }
    : payload;

export interface RestEndpointOptions {
  readonly services: Services;
  readonly authentication: RequestAuthentication;
  /**
   * Whether only requests are served by which a worker can be drained without a gateway.
   * @default false
   */
  readonly isOfWorker?: boolean;
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

  readonly register = (routes: FastifyInstance): void => {
    const { authentication, isOfWorker = false, maxMessageBytes: bodyLimit } = this.#options;
    const onRequest = authentication.authenticate;
    const served = Object.keys(requests).filter((name) => requestOf(name)?.onWorkers);
    const url = isOfWorker ? `${PATH}(^(?:${served.join('|')})$)` : PATH;
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
    const sink = requestOf(asked.name)?.noSink ? undefined : silentSink();
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
    const definition = requestOf(name);
    return {
      name,
      payload: withDefaults(definition?.httpDefaults, definition ? fromJsonBytes(definition.input, body) : body),
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

const keyReused = (key: string): AdapterError =>
  new AdapterError(
    'IDEMPOTENCY_KEY_REUSED',
    `the Idempotency-Key ${JSON.stringify(key)} belongs to an earlier request with another name or body`,
    { details: { idempotency_key: key } },
  );

const notJson = () =>
  Object.assign(new Error('the body must be JSON, with Content-Type: application/json'), { statusCode: 415 });

/** Adds `GET /openapi.json`, which describes the requests over HTTP, and `GET /asyncapi.json`, for Socket.IO. */
export const descriptionRoutes =
  ({ authenticate: onRequest }: RequestAuthentication, version: string) =>
  (routes: FastifyInstance): void => {
    let described: string | undefined;
    routes.get('/openapi.json', { onRequest }, (_request, reply) => {
      // It takes 75 ms, and is always the same.
      described ??= JSON.stringify(openApiDocument(version));
      return reply.type('application/json; charset=utf-8').send(described);
    });
    // The same, but for the address by which the daemon was reached: there is one as a rule.
    let placed: { readonly address: string; readonly text: string } | undefined;
    routes.get('/asyncapi.json', { onRequest }, ({ host, protocol }, reply) => {
      const address = `${protocol}://${host}`;
      if (placed?.address !== address) {
        const document = asyncApiDocument(version, { host, isEncrypted: protocol === 'https' });
        placed = { address, text: JSON.stringify(document) };
      }
      return reply.type('application/json; charset=utf-8').send(placed.text);
    });
  };
