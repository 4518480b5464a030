import type { APIError, OpenAI } from 'openai';
import type { Agent, RequestInit } from 'undici';

import { linkSignals } from '../../core/abort.js';
import { AdapterError } from '../../core/errors.js';
import {
  type CompletionPart,
  explainUnreadable,
  NoCompletionError,
  readCompletion,
  readCompletionEvent,
} from '../../core/llm/messages.js';
import { kindOfError, llmError, maskSecrets } from '../../core/llm/failure.js';
import {
  HTTP_PROVIDERS,
  type HttpProviderName,
  type HttpProviderSettings,
  type LlmSettings,
} from '../../core/llm/settings.js';
import type { LlmUsage } from '../../core/llm/answer.js';
import type { Secret } from '../../core/secret.js';
import { MAX_TIMER_MS } from '../../core/time.js';
import type { Availability, EmitLlmEvent, LlmQuestion, LlmReply } from './providers.js';

/**
 * Options of connections to services. By default undici, and with it `fetch` of Node.js, gives up after 300 s without headers, or
 * between two pieces of a body; here the time-out of the call is the only one.
 */
export const NO_TIMEOUTS: Agent.Options = { headersTimeout: 0, bodyTimeout: 0 };

/** Connections that calls share. */
let shared: Agent | undefined;

/**
 * Makes the `fetch` of a client. Its responses fail when their body exceeds a size, in bytes. Redirects are not followed: the
 * answer of another host is not trusted.
 * @param options of connections
 */
export async function fetchFor(maxBytes: number, options = NO_TIMEOUTS): Promise<typeof fetch> {
  const { Agent, fetch: send } = await import('undici');
  const dispatcher = options === NO_TIMEOUTS ? (shared ??= new Agent(options)) : new Agent(options);
  return async (input, init) => {
    const request = { ...init, redirect: 'error', dispatcher } as RequestInit;
    const { status, statusText, headers, body } = await send(input, request);
    const bounded = (body as ReadableStream<Uint8Array> | null)?.pipeThrough(byteLimit(maxBytes)) ?? null;
    return new Response(bounded, { status, statusText, headers: [...headers] });
  };
}

function byteLimit(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      size += chunk.byteLength;
      if (size > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`);
      controller.enqueue(chunk);
    },
  });
}

/** Default addresses of services. The package knows OpenAI's own address. */
const DEFAULT_URLS: Readonly<Partial<Record<HttpProviderName, string>>> = {
  ollama: 'http://127.0.0.1:11434',
  litellm: 'http://127.0.0.1:4000',
};

/** Default version of Azure's API. */
const AZURE_API_VERSION = '2024-10-21';

/** The package requires a key, also for local services without one. */
const NO_KEY = 'none';

/** Largest answer of a service, in bytes: the same bound as for a tool's output. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/** Options of every client, so that the daemon's environment and log have no part in it. */
const clientOptions = async (apiKey: Secret | undefined, maxRetries: number, maxBytes: number) =>
  ({
    apiKey: apiKey?.reveal() ?? NO_KEY,
    maxRetries,
    // By default ten minutes; the signal of the call ends it.
    timeout: MAX_TIMER_MS,
    // Otherwise the package would log the answers of the service.
    logLevel: 'off',
    fetch: await fetchFor(maxBytes),
  }) as const;

/**
 * Creates a client of a service that implements OpenAI's protocol. The package is loaded on first use: most daemons
 * never need it.
 * @param baseUrl undefined for OpenAI's own
 * @param maxBytes largest answer
 */
export async function openAiClient(
  baseUrl: string | undefined,
  apiKey: Secret | undefined,
  maxRetries: number,
  maxBytes: number,
): Promise<OpenAI> {
  const { OpenAI: Client } = await import('openai');
  const options = await clientOptions(apiKey, maxRetries, maxBytes);
  // With undefined, the package would read the environment.
  return new Client({ ...options, baseURL: baseUrl ?? null, organization: null, project: null });
}

async function clientOf(
  name: HttpProviderName,
  { baseUrl, apiKey, model, maxRetries, apiVersion = AZURE_API_VERSION }: HttpProviderSettings,
): Promise<OpenAI> {
  if (name === 'azure') {
    const { AzureOpenAI } = await import('openai');
    const options = await clientOptions(apiKey, maxRetries, MAX_RESPONSE_BYTES);
    return new AzureOpenAI({ ...options, endpoint: baseUrl, apiVersion, deployment: model });
  }
  const url = baseUrl ?? DEFAULT_URLS[name];
  // Ollama is configured by its root URL, below which it serves several protocols.
  const serviceUrl = name === 'ollama' && url !== undefined ? `${url.replace(/\/(v1\/?)?$/, '')}/v1` : url;
  return openAiClient(serviceUrl, apiKey, maxRetries, MAX_RESPONSE_BYTES);
}

/** Calls HTTP services that implement OpenAI's protocol. */
export class HttpProviders {
  readonly #settings: () => LlmSettings;

  constructor(settings: () => LlmSettings) {
    this.#settings = settings;
  }

  /** Configured services: by an address, or by a key for a well-known one. */
  get configured(): ReadonlySet<HttpProviderName> {
    const settings = this.#settings();
    const isConfigured = (name: HttpProviderName): boolean => {
      const { baseUrl, apiKey } = settings[name];
      if (name === 'azure') return baseUrl !== undefined && apiKey !== undefined;
      return baseUrl !== undefined || (name === 'openai' && apiKey !== undefined);
    };
    return new Set(HTTP_PROVIDERS.filter(isConfigured));
  }

  /** Availability of a service, according to the configuration. No request is sent. */
  availability(name: HttpProviderName): Availability {
    if (this.configured.has(name)) return { available: true, command: null };
    const missing = name === 'azure' ? 'base_url and api_key are' : name === 'openai' ? 'api_key is' : 'base_url is';
    return { available: false, reason: `llm.${name}.${missing} not set` };
  }

  /**
   * Calls a service.
   * @throws AdapterError LLM_…
   */
  async ask(name: HttpProviderName, question: LlmQuestion, emit: EmitLlmEvent): Promise<LlmReply> {
    emit({ type: 'running' });
    const settings = this.#settings()[name];
    const availability = this.availability(name);
    const model = question.model ?? settings.model;
    const unavailable = (reason: string) => llmError('unavailable', `${name}: ${reason}`, { provider: name });
    // A service requested by name may run at its default address.
    if (!availability.available && !(name in DEFAULT_URLS)) throw unavailable(availability.reason);
    if (model === undefined) throw unavailable(`no model: the request names none, and llm.${name}.model is not set`);
    const late = AbortSignal.timeout(question.timeoutMs);
    using ending = linkSignals(question.signal, late);
    const { signal } = ending;
    try {
      const client = await clientOf(name, { ...settings, model });
      const body = { model, messages: [...question.messages] };
      const reply = question.isStreamed
        ? await stream(client, body, signal, emit)
        : await complete(client, body, signal);
      if (reply.content === '') throw llmError('empty', `${name} gave an empty answer`, { provider: name });
      return reply;
    } catch (error) {
      if (error instanceof AdapterError) throw error;
      throw await this.#failureOf(name, settings, error, { cancelled: question.signal, late });
    }
  }

  async #failureOf(
    name: HttpProviderName,
    { apiKey }: HttpProviderSettings,
    thrown: unknown,
    { cancelled, late }: Readonly<Record<'cancelled' | 'late', AbortSignal>>,
  ): Promise<AdapterError> {
    const error = explainUnreadable(thrown);
    const details = { provider: name };
    if (cancelled.aborted) return llmError('cancelled', `${name} was cancelled`, details, error);
    if (late.aborted) return llmError('timeout', `${name} ran into its time-out`, details, error);
    const { APIConnectionError, APIError: ServiceError } = await import('openai');
    const detail = maskSecrets(messageOf(error), apiKey ? [apiKey.reveal()] : []);
    if (error instanceof APIConnectionError) {
      return llmError('unavailable', `${name} is not reached: ${detail}`, { ...details, detail }, error);
    }
    const { status, code } =
      error instanceof ServiceError ? factsOf(error as APIError) : { status: null, code: undefined };
    const kind = kindOfError({ status: status ?? undefined, code }) ?? 'failed';
    const hint = error instanceof NoCompletionError ? ` (is llm.${name}.base_url right?)` : '';
    return llmError(kind, `${name} failed: ${detail}${hint}`, { ...details, status, detail }, error);
  }
}

/** The facts of an error answer that tell its kind. */
const factsOf = ({ status, code, type }: APIError) => ({
  status: status ?? null,
  code: code ?? type,
});

interface Body {
  readonly model: string;
  readonly messages: OpenAI.ChatCompletionMessageParam[];
}

async function complete(client: OpenAI, body: Body, signal: AbortSignal): Promise<LlmReply> {
  const { choice, usage, model } = readCompletion(await client.chat.completions.create(body, { signal }));
  return { content: choice.content.trim(), usage, model, session: null, isText: false };
}

async function stream(client: OpenAI, body: Body, signal: AbortSignal, emit: EmitLlmEvent): Promise<LlmReply> {
  let content = '';
  let usage: LlmUsage | undefined;
  let model: string | null = null;
  let hasBegun = false;
  let isFinished = false;
  for await (const part of streamedParts(client, body, signal)) {
    const text = part.choice?.content ?? '';
    hasBegun = true;
    isFinished ||= part.choice?.finishReason !== undefined;
    model ??= part.model;
    usage = part.usage ?? usage;
    content += text;
    if (text !== '') emit({ type: 'text', text });
  }
  if (!hasBegun) throw new NoCompletionError('a stream without an event');
  if (!isFinished) throw new NoCompletionError('a stream that ends without a finish_reason, before the answer does');
  return { content: content.trim(), usage, model, session: null, isText: false };
}

/** Time a service has to end its stream after the end of the answer, in milliseconds: the same as for a tool. */
const FINISH_GRACE_MS = 5000;

/** The events of a stream. One that stays open after the end of the answer is ended here. */
async function* streamedParts(client: OpenAI, body: Body, signal: AbortSignal): AsyncGenerator<CompletionPart> {
  const enough = new AbortController();
  using ending = linkSignals(signal, enough.signal);
  let graceTimer: NodeJS.Timeout | undefined;
  try {
    const events = await client.chat.completions.create(
      { ...body, stream: true, stream_options: { include_usage: true } },
      { signal: ending.signal },
    );
    for await (const event of events) {
      const part = readCompletionEvent(event);
      yield part;
      if (part.choice?.finishReason === undefined) continue;
      graceTimer ??= setTimeout(() => {
        enough.abort();
      }, FINISH_GRACE_MS);
    }
    // The package ends a cancelled stream as if it were complete.
    signal.throwIfAborted();
  } finally {
    clearTimeout(graceTimer);
  }
}

/** The message of an error with its causes: "Connection error." alone is not helpful. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? messageOf(error.cause) : '';
  return cause === '' || error.message.includes(cause) ? error.message : `${error.message} ${cause}`;
}
