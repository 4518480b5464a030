import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { AdapterError } from '../core/errors.js';
import type { Log } from '../core/log.js';
import { ChatEncoder, parseChatRequest } from '../core/openai/chat.js';
import type {
  AnswerEncoder,
  AnswerEvent,
  CompletionAnswer,
  CompletionRequest,
} from '../core/openai/completion-request.js';
import { unknownModel } from '../core/openai/failure.js';
import { parseResponsesRequest, ResponsesEncoder } from '../core/openai/responses.js';
import { assertPermitted } from '../core/protocol/permissions.js';
import type { TraceCarrier } from '../core/traces.js';
import type { ForwardedAnswer } from '../services/http-exchange.js';
import type { CompletionListener } from '../services/llm/completions.js';
import type { Caller } from '../services/registry/caller.js';
import type { Services } from '../services/services.js';
import { asNewWork } from './dispatch.js';
import type { Admitted, HttpAuthentication } from './http/authentication.js';
import { EventStream } from './http/event-stream.js';
import {
  goneSignal,
  openAiErrorAnswer,
  rawRequest,
  sendErrorAnswer,
  sendForwarded,
  traceIn,
} from './http/http-requests.js';

interface Api {
  readonly path: string;
  readonly parse: (body: unknown) => CompletionRequest;
  readonly encoder: (asked: CompletionRequest) => AnswerEncoder;
}

const frameOf = (prefix: string, { model }: CompletionRequest) => ({
  id: `${prefix}${crypto.randomUUID()}`,
  created: Math.floor(Date.now() / 1000),
  model,
});

const APIS: readonly Api[] = [
  {
    path: '/v1/chat/completions',
    parse: parseChatRequest,
    encoder: (asked) => new ChatEncoder(frameOf('cmpl-', asked), asked.includesUsage),
  },
  {
    path: '/v1/responses',
    parse: parseResponsesRequest,
    encoder: (asked) => new ResponsesEncoder(frameOf('', asked)),
  },
];

/** The content of a request whose body has been read. */
function contentOf({ raw: { method, headers }, body }: FastifyRequest) {
  if (method === 'GET') return {};
  const text = Buffer.from(JSON.stringify(body));
  const framing = { 'content-length': String(text.length), 'transfer-encoding': undefined };
  return { headers: { ...headers, ...framing }, body: Readable.from([text]) };
}

/** Largest request, in bytes: the largest prompt of a tool, and the overhead of JSON. */
const MAX_BODY_BYTES = 24 * 1024 * 1024;

interface TracedCaller extends Caller {
  readonly trace: TraceCarrier | undefined;
}

/**
 * OpenAI's API: chat completions and responses by the command-line tools of this machine, and the list of models.
 * Answers and errors have OpenAI's format. A run may have changed files, so clients are asked not to retry
 * automatically unless nothing has run.
 */
export class OpenAiEndpoint {
  readonly #services: Services;
  readonly #authentication: HttpAuthentication;
  readonly #log: Log;

  constructor(services: Services, authentication: HttpAuthentication, log: Log) {
    this.#services = services;
    this.#authentication = authentication;
    this.#log = log;
  }

  readonly register = (routes: FastifyInstance): void => {
    const options = { onRequest: this.#authentication.authenticate, errorHandler: this.#onError };
    for (const api of APIS) {
      routes.post(api.path, { bodyLimit: MAX_BODY_BYTES, ...options }, (request, reply) =>
        this.#complete(api, request, reply),
      );
    }
    routes.get('/v1/models', options, (request, reply) =>
      this.#answerOnNode(request, reply, () => ({ object: 'list', data: this.#models() })),
    );
    routes.get<{ Params: { readonly id: string } }>('/v1/models/:id', options, (request, reply) =>
      this.#answerOnNode(request, reply, () => this.#model(request.params.id, reply)),
    );
  };

  /** Answers a request about models, here or by the node that answers it. */
  async #answerOnNode(request: FastifyRequest, reply: FastifyReply, answerHere: () => object): Promise<object> {
    const answer = await this.#forward(request, reply, this.#admit(request), undefined);
    return answer ? sendForwarded(answer, reply) : answerHere();
  }

  #admit(request: FastifyRequest): Admitted {
    const { body } = request;
    const { quotas, isClosing } = this.#services;
    const admitted = this.#authentication.admittedOf(request);
    const { caller } = admitted;
    const { principal, relayedBy } = caller;
    try {
      if (relayedBy === undefined) quotas.countRequest(principal);
      assertPermitted(principal.role, 'llm_call');
      if (principal.runAs !== undefined) throw notForUsers(principal.runAs);
    } catch (error) {
      throw this.#record(error, body, caller);
    }
    if (isClosing()) throw new AdapterError('SHUTTING_DOWN', 'the daemon is being stopped');
    return admitted;
  }

  /** Runs a completion. Its outcome is recorded, and secrets in it are masked. */
  async #ask(asked: CompletionRequest, caller: TracedCaller, listener: CompletionListener): Promise<CompletionAnswer> {
    const { cluster, completions, requestAudit, secrets, traces } = this.#services;
    const { principal, from, trace } = caller;
    try {
      const answer = await traces.request({ name: 'llm_call', payload: asked, principal, from, trace }, () =>
        asNewWork(cluster, () => completions.complete(asked, listener)),
      );
      requestAudit.answered('llm_call', asked, {}, caller);
      return secrets.value(answer);
    } catch (error) {
      throw this.#record(error, asked, caller);
    }
  }

  /** Records a failure; returns it in the form for clients. */
  #record(error: unknown, asked: unknown, caller: Caller): AdapterError {
    const known = this.#known(error);
    this.#services.requestAudit.answered('llm_call', asked, { error: known.toBody() }, caller);
    return known;
  }

  #models() {
    // The daemon does not know a creation date of its models.
    return this.#services.completions
      .models()
      .map(({ id, driver }) => ({ id, object: 'model', created: 0, owned_by: driver }));
  }

  /** An unknown model is 404 here, unlike in a completion request: the requested resource is the model itself. */
  #model(wanted: string, reply: FastifyReply): object {
    const models = this.#models();
    const model = models.find(({ id }) => id === wanted);
    if (model) return model;
    const error = unknownModel(
      wanted,
      models.map(({ id }) => id),
    );
    return sendErrorAnswer(reply, { ...openAiErrorAnswer(error), status: 404 });
  }

  async #complete(api: Api, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const admitted = this.#admit(request);
    const caller = { ...admitted.caller, trace: traceIn(request.headers) };
    const asked = api.parse(request.body);
    const repeatKey = repeatKeyOf(request, caller);
    const answer = await this.#forward(request, reply, admitted, repeatKey);
    if (answer) return sendForwarded(answer, reply);
    if (asked.ignored.length > 0) reply.header('x-ignored-params', asked.ignored.join(', '));
    reply.header('cache-control', 'no-store');
    const encoder = api.encoder(asked);
    const signal = goneSignal(request, reply, admitted.ended);
    const ask: Ask = (onText) => this.#ask(asked, caller, { principal: caller.principal, signal, onText, repeatKey });
    if (asked.isStreamed) return this.#stream(ask, encoder, reply);
    return reply.send(encoder.whole(await ask(undefined)));
  }

  /**
   * Sends a request to another node, placed as `llm_call` is; undefined when it is answered here.
   * @throws AdapterError NO_CAPACITY, NODE_UNREACHABLE, NODE_LOST
   */
  async #forward(
    request: FastifyRequest,
    reply: FastifyReply,
    { caller, ended, isEncrypted }: Admitted,
    repeatKey: string | undefined,
  ): Promise<ForwardedAnswer | undefined> {
    try {
      const { raw, headers } = request;
      const http = () =>
        rawRequest(raw, { ...contentOf(request), isEncrypted, gone: goneSignal(request, reply, ended) });
      const about = { name: 'llm_call', payload: {}, request: {}, caller, trace: traceIn(headers), repeatKey } as const;
      const send = this.#services.cluster.route({ ...about, http, answerHere: notHere });
      // What comes over HTTP and has no reply is answered as it comes.
      return (await send?.())?.reply as ForwardedAnswer | undefined;
    } catch (error) {
      throw this.#record(error, request.body, caller);
    }
  }

  /** A failure before any part of the answer is sent with a status of its own; after that it ends the stream. */
  async #stream(ask: Ask, encoder: AnswerEncoder, reply: FastifyReply): Promise<FastifyReply> {
    const stream = new EventStream();
    const send = (event: AnswerEvent) => {
      for (const object of encoder.encode(event)) stream.send(object);
    };
    const sendText = (text: string) => {
      if (!stream.hasBegun) send({ type: 'begun' });
      send({ type: 'text', text });
    };
    const ended = ask(sendText).then((answer) => {
      if (!stream.hasBegun) sendText(answer.content);
      send({ type: 'done', answer });
      stream.end(encoder.hasDoneMark);
    });
    try {
      await Promise.race([stream.begun, ended]);
    } catch (error) {
      stream.destroy();
      throw error;
    }
    if (!stream.hasBegun) send({ type: 'begun' });
    ended.catch((thrown: unknown) => {
      const { error } = openAiErrorAnswer(this.#known(thrown)).body;
      send({ type: 'failed', error: this.#services.secrets.value(error) });
      stream.end(false);
    });
    return reply.type('text/event-stream; charset=utf-8').header('x-accel-buffering', 'no').send(stream.body);
  }

  readonly #onError = (
    error: Error & { readonly statusCode?: number },
    _request: FastifyRequest,
    reply: FastifyReply,
  ): void => {
    const answer = openAiErrorAnswer(this.#known(error));
    sendErrorAnswer(reply, { ...answer, body: this.#services.secrets.value(answer.body) });
  };

  /** Converts an error for clients: details of internal errors are only logged. */
  #known(error: unknown): AdapterError {
    if (error instanceof AdapterError) return error;
    const { statusCode, message, stack } = error as Error & { readonly statusCode?: number };
    if (statusCode === 413)
      return new AdapterError('PAYLOAD_TOO_LARGE', `the request has more than ${MAX_BODY_BYTES} bytes`);
    if (statusCode === 415) return new AdapterError('INVALID_REQUEST', 'the content type must be application/json');
    if (statusCode !== undefined && statusCode < 500) return new AdapterError('INVALID_REQUEST', message);
    this.#log.error('a request failed unexpectedly', { error: stack ?? String(error) });
    return new AdapterError('INTERNAL', 'internal error; the log has the details');
  }
}

/** This node answers completions beside the requests of the protocol. */
const notHere = (): never => {
  throw new AdapterError('INTERNAL', 'a completion is no message');
};

type Ask = (onText: CompletionListener['onText']) => Promise<CompletionAnswer>;

/** The models of the endpoint run in directories of the daemon's user, and make worktrees there. */
const notForUsers = (user: string): AdapterError =>
  new AdapterError(
    'FORBIDDEN',
    `this token runs as the user ${user}: it can use llm_call, but not the models of this endpoint`,
    {
      details: { run_as: user },
    },
  );

/** Equal for the same request of the same principal; undefined when the client demands a run with `no-cache`. */
function repeatKeyOf({ routeOptions, headers, body }: FastifyRequest, { principal }: Caller): string | undefined {
  if (/\bno-cache\b/.test(headers['cache-control'] ?? '')) return undefined;
  return createHash('sha256')
    .update(JSON.stringify([principal.id, routeOptions.url, body]))
    .digest('base64');
}
