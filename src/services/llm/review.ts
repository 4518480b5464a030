import type OpenAI from 'openai';

import { LOCAL_PRINCIPAL } from '../../core/principal.js';
import {
  buildReview,
  readReview,
  type ReviewMessage,
  type ReviewQuestion,
  type ReviewVerdict,
} from '../../core/review.js';
import { ID_BYTES } from '../../core/ids.js';
import { explainUnreadable, readCompletion, type WholeCompletion } from '../../core/llm/messages.js';
import type { LlmProviderName } from '../../core/llm/settings.js';
import type { Request } from '../../core/protocol/requests.js';
import type { Secret } from '../../core/secret.js';
import { randomBytes } from '../../engine/system/random.js';
import type { Reviewer } from '../confirmations/confirmation.js';
import type { LlmCalls } from './calls.js';
import { boundedFetch } from './http-providers.js';

/** Largest answer of the server, in bytes: a verdict takes about one hundred. */
const MAX_RESPONSE_BYTES = 256 * 1024;

/** A model behind an HTTP API like OpenAI's: `POST /chat/completions`. One question, one attempt. */
export class OpenAiReviewer implements Reviewer {
  readonly name: string;
  readonly #baseUrl: string;
  readonly #apiKey: Secret | undefined;

  /** @param apiKey undefined for servers without authentication */
  constructor(model: string, baseUrl: string, apiKey: Secret | undefined) {
    this.name = model;
    this.#baseUrl = baseUrl;
    this.#apiKey = apiKey;
  }

  async review(question: ReviewQuestion, signal: AbortSignal): Promise<ReviewVerdict> {
    const messages = buildReview(question, randomBytes(ID_BYTES).toString('hex'));
    if (!messages) throw new Error('the command is too long to be reviewed');
    const client = await this.#connect();
    const { choice, choiceCount } = await this.#ask(client, messages, signal);
    const isWhole = choiceCount === 1 && choice.finishReason === 'stop';
    const verdict = isWhole ? readReview(choice.content) : undefined;
    if (!verdict) throw new Error('its answer is not one JSON object with verdict and reason');
    return verdict;
  }

  async #ask(client: OpenAI, messages: readonly ReviewMessage[], signal: AbortSignal): Promise<WholeCompletion> {
    const format = { temperature: 0, response_format: { type: 'json_object' } } as const;
    const body = { model: this.name, messages: [...messages], ...format };
    try {
      return readCompletion(await client.chat.completions.create(body, { signal }));
    } catch (error) {
      throw explainUnreadable(error);
    }
  }

  /** Creates the client. The package is loaded on first use: most daemons never need it. */
  async #connect(): Promise<OpenAI> {
    const { OpenAI: Client } = await import('openai');
    return new Client({
      baseURL: this.#baseUrl,
      apiKey: this.#apiKey?.reveal() ?? 'none',
      // The daemon's environment must not have any effect.
      organization: null,
      project: null,
      maxRetries: 0,
      logLevel: 'off',
      fetch: boundedFetch(MAX_RESPONSE_BYTES),
    });
  }
}

/** The caller of reviews: a principal that no client has, so that no client can cancel them. */
const REVIEWER = { principal: { ...LOCAL_PRINCIPAL, id: 'reviewer', name: 'reviewer' }, sink: undefined };

/**
 * A reviewer that uses a provider of the section `llm`: a command-line tool, or a service. One question, one answer.
 */
export class ProviderReviewer implements Reviewer {
  readonly name: string;
  readonly #llm: LlmCalls;
  readonly #wish: Pick<Request<'llm_call'>, 'provider' | 'shell_provider' | 'model'>;

  /**
   * @param shellProvider undefined for the first tool that answers
   * @param model undefined for the provider's own
   */
  constructor(llm: LlmCalls, provider: LlmProviderName, shellProvider: string | undefined, model: string | undefined) {
    this.name = model ?? shellProvider ?? provider;
    this.#llm = llm;
    this.#wish = { provider, shell_provider: shellProvider, model };
  }

  async review(question: ReviewQuestion, signal: AbortSignal): Promise<ReviewVerdict> {
    const messages = buildReview(question, randomBytes(ID_BYTES).toString('hex'));
    if (!messages) throw new Error('the command is too long to be reviewed');
    const { content } = await this.#llm.call(
      { ...this.#wish, messages: [...messages] },
      REVIEWER,
      // The command under review may contain a prompt injection.
      { isReadOnly: true, signal },
    );
    const verdict = readReview(content);
    if (!verdict) throw new Error('its answer is not one JSON object with verdict and reason');
    return verdict;
  }
}
