import type OpenAI from 'openai';

import { LOCAL_PRINCIPAL } from '../../core/principal.js';
import {
  buildReview,
  readReview,
  type ReviewMessage,
  type ReviewQuestion,
  type ReviewVerdict,
} from '../../core/review.js';
import { callIdFrom, ID_BYTES } from '../../core/ids.js';
import { explainUnreadable, readCompletion, type WholeCompletion } from '../../core/llm/messages.js';
import type { LlmProviderName } from '../../core/llm/settings.js';
import type { Secret } from '../../core/secret.js';
import { randomBytes } from '../../engine/system/random.js';
import type { Reviewer } from '../confirmations/confirmation.js';
import type { LlmCalls } from './calls.js';
import { boundedFetch } from './http-providers.js';

/** Largest answer of the server, in bytes: a verdict takes about one hundred. */
const MAX_RESPONSE_BYTES = 256 * 1024;

/** The model of a reviewer, and its server. */
interface OpenAiReviewerOptions {
  readonly baseUrl: string;
  readonly model: string;
  /** Undefined for servers without authentication. */
  readonly apiKey: Secret | undefined;
}

/** A model behind an HTTP API like OpenAI's: `POST /chat/completions`. One question, one attempt. */
export class OpenAiReviewer implements Reviewer {
  readonly name: string;
  readonly #options: OpenAiReviewerOptions;

  constructor(options: OpenAiReviewerOptions) {
    this.name = options.model;
    this.#options = options;
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
    const { baseUrl, apiKey } = this.#options;
    return new Client({
      baseURL: baseUrl,
      apiKey: apiKey?.reveal() ?? 'none',
      // The daemon's environment must not have any effect.
      organization: null,
      project: null,
      maxRetries: 0,
      logLevel: 'off',
      fetch: boundedFetch(MAX_RESPONSE_BYTES),
    });
  }
}

/** The provider of a reviewer. */
interface ProviderReviewerOptions {
  readonly provider: LlmProviderName;
  /** Undefined for the first tool that answers. */
  readonly shellProvider: string | undefined;
  /** Undefined for the provider's own. */
  readonly model: string | undefined;
}

/** The caller of reviews: a principal that no client has, so that no client can cancel them. */
const REVIEWER = { principal: { ...LOCAL_PRINCIPAL, id: 'reviewer', name: 'reviewer' }, sink: undefined };

/**
 * A reviewer that uses a provider of the section `llm`: a command-line tool, or a service. One question, one answer.
 */
export class ProviderReviewer implements Reviewer {
  readonly name: string;
  readonly #llm: LlmCalls;
  readonly #options: ProviderReviewerOptions;

  constructor(llm: LlmCalls, options: ProviderReviewerOptions) {
    this.name = options.model ?? options.shellProvider ?? options.provider;
    this.#llm = llm;
    this.#options = options;
  }

  async review(question: ReviewQuestion, signal: AbortSignal): Promise<ReviewVerdict> {
    const messages = buildReview(question, randomBytes(ID_BYTES).toString('hex'));
    if (!messages) throw new Error('the command is too long to be reviewed');
    const call_id = callIdFrom(randomBytes(ID_BYTES));
    const cancel = () => void this.#llm.cancel({ call_id }, REVIEWER.principal);
    signal.addEventListener('abort', cancel, { once: true });
    const { provider, shellProvider: shell_provider, model } = this.#options;
    try {
      const { content } = await this.#llm.call(
        { provider, shell_provider, model, messages: [...messages], call_id },
        REVIEWER,
        // The command under review may contain a prompt injection.
        { isReadOnly: true },
      );
      const verdict = readReview(content);
      if (!verdict) throw new Error('its answer is not one JSON object with verdict and reason');
      return verdict;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }
}
