import type { APIError, OpenAI } from 'openai';

import { AdapterError } from '../core/errors.js';
import {
  type CompletionPart,
  explainUnreadable,
  NoCompletionError,
  readCompletion,
  readCompletionEvent,
} from '../core/llm/completion.js';
import { kindOfError, llmError, maskSecrets } from '../core/llm/failure.js';
import {
  HTTP_PROVIDERS,
  type HttpProviderName,
  type HttpProviderSettings,
  type LlmSettings,
} from '../core/llm/settings.js';
import type { LlmUsage } from '../core/llm/usage.js';
import type { Availability, LlmQuestion, LlmReply } from './call.js';
import { DEFAULT_URLS, openAiClient } from './openai-client.js';

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
   * Calls a service; with `onChunk` the answer is streamed.
   * @throws AdapterError LLM_…
   */
  async ask(name: HttpProviderName, question: LlmQuestion & { readonly timeoutMs: number }): Promise<LlmReply> {
    const settings = this.#settings()[name];
    const availability = this.availability(name);
    const model = question.model ?? settings.model;
    const unavailable = (reason: string) => llmError('unavailable', `${name}: ${reason}`, { provider: name });
    // A service requested by name may run at its default address.
    if (!availability.available && !(name in DEFAULT_URLS)) throw unavailable(availability.reason);
    if (model === undefined) throw unavailable(`no model: the request names none, and llm.${name}.model is not set`);
    const late = AbortSignal.timeout(question.timeoutMs);
    const signal = AbortSignal.any([question.signal, late]);
    try {
      const client = await openAiClient(name, { ...settings, model });
      const body = { model, messages: [...question.messages] };
      const reply = question.onChunk
        ? await stream(client, body, signal, question.onChunk)
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

async function stream(
  client: OpenAI,
  body: Body,
  signal: AbortSignal,
  onChunk: (text: string) => void,
): Promise<LlmReply> {
  const events = await client.chat.completions.create(
    { ...body, stream: true, stream_options: { include_usage: true } },
    { signal },
  );
  const reply = new StreamedReply();
  for await (const event of events) {
    const text = reply.add(readCompletionEvent(event));
    if (text !== '') onChunk(text);
  }
  // The package ends a cancelled stream as if it were complete.
  signal.throwIfAborted();
  return reply.whole();
}

/** The reply of a stream, as far as it has arrived. */
class StreamedReply {
  #content = '';
  #usage: LlmUsage | undefined;
  #model: string | null = null;
  #hasBegun = false;
  #isFinished = false;

  /** Adds an event; returns its text. */
  add({ choice, usage, model }: CompletionPart): string {
    const text = choice?.content ?? '';
    this.#hasBegun = true;
    this.#model ??= model;
    this.#usage = usage ?? this.#usage;
    this.#isFinished ||= choice?.finishReason !== undefined;
    this.#content += text;
    return text;
  }

  /**
   * The reply, after the last event.
   * @throws NoCompletionError when the stream was cut off
   */
  whole(): LlmReply {
    if (!this.#hasBegun) throw new NoCompletionError('a stream without an event');
    if (!this.#isFinished)
      throw new NoCompletionError('a stream that ends without a finish_reason, before the answer does');
    return { content: this.#content.trim(), usage: this.#usage, model: this.#model, session: null, isText: false };
  }
}

/** The message of an error with its causes: "Connection error." alone is not helpful. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? messageOf(error.cause) : '';
  return cause === '' || error.message.includes(cause) ? error.message : `${error.message} ${cause}`;
}
