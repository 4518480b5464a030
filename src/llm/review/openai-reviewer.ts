import type OpenAI from 'openai';

import { buildReview, type ReviewMessage, type ReviewQuestion } from '../../core/confirmation/review-prompt.js';
import { readReview, type ReviewVerdict } from '../../core/confirmation/review-verdict.js';
import { explainUnreadable, readCompletion, type WholeCompletion } from '../../core/llm/completion.js';
import type { Secret } from '../../core/secret.js';
import { ID_BYTES } from '../../core/ids.js';
import { randomBytes } from '../../engine/system/random.js';
import type { Reviewer } from '../../services/confirmations/reviewer.js';
import { boundedFetch } from '../bounded-fetch.js';

/** Largest answer of the server, in bytes: a verdict takes about one hundred. */
const MAX_RESPONSE_BYTES = 256 * 1024;

/** The model of a reviewer, and its server. */
export interface OpenAiReviewerOptions {
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
