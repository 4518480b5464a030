import { createHash } from 'node:crypto';

import type OpenAI from 'openai';

import { BoundedMap } from '../../core/bounded-map.js';
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
import type { SecretMask } from '../../core/secrets.js';
import { randomBytes } from '../../engine/system/random.js';
import type { Reviewer } from '../confirmations/confirmation.js';
import type { LlmCalls } from './calls.js';
import { openAiClient } from './http-providers.js';

/** Largest answer of the server, in bytes: a verdict takes about one hundred. */
const MAX_RESPONSE_BYTES = 256 * 1024;

/** A model behind an HTTP API like OpenAI's: `POST /chat/completions`. One question, one attempt. */
class OpenAiReviewer implements Reviewer {
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
    const client = await openAiClient(this.#baseUrl, this.#apiKey, 0, MAX_RESPONSE_BYTES);
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
}

/** The caller of reviews: a principal that no client has, so that no client can cancel them. */
const REVIEWER = { principal: { ...LOCAL_PRINCIPAL, id: 'reviewer', name: 'reviewer' }, sink: undefined };

/**
 * A reviewer that uses a provider of the section `llm`: a command-line tool, or a service. One question, one answer.
 */
class ProviderReviewer implements Reviewer {
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

/** Most verdicts that are kept; beyond that, the oldest are dropped. */
const MAX_VERDICTS = 500;

interface KeptVerdict {
  readonly verdict: ReviewVerdict;
  /** On the monotonic clock, in milliseconds. */
  readonly givenAt: number;
}

/** Keeps the verdicts of reviewing models for a while: an identical question gets an identical answer without a call. */
export class ReviewCache {
  readonly #maxAgeMs: () => number;
  readonly #kept = new BoundedMap<string, KeptVerdict>(MAX_VERDICTS);

  constructor(maxAgeMs: () => number) {
    this.#maxAgeMs = maxAgeMs;
  }

  /**
   * Returns a reviewer that answers repeated questions from the cache. Failures are not kept.
   * @param identity tells apart reviewers whose verdicts may differ
   */
  wrap(reviewer: Reviewer, identity: string): Reviewer {
    return {
      name: reviewer.name,
      review: async (question, signal) => {
        const key = createHash('sha256')
          .update(JSON.stringify([identity, question]))
          .digest('hex');
        const known = this.#find(key);
        if (known) return known;
        const verdict = await reviewer.review(question, signal);
        this.#kept.set(key, { verdict, givenAt: performance.now() });
        return verdict;
      },
    };
  }

  #find(key: string): ReviewVerdict | undefined {
    const kept = this.#kept.get(key);
    const isFresh = kept !== undefined && performance.now() - kept.givenAt < this.#maxAgeMs();
    return isFresh ? kept.verdict : undefined;
  }
}

/** Which model reviews commands. */
interface ReviewerSettings {
  readonly provider: 'openai' | LlmProviderName;
  /** Undefined for the first tool that answers. */
  readonly shellProvider: string | undefined;
  readonly baseUrl: string;
  /** Undefined for the provider's own; an API has none. */
  readonly model: string | undefined;
  readonly apiKey: Secret | undefined;
  /** How long a verdict is kept, in milliseconds. */
  readonly cacheMs: number;
}

/** Chooses the model that reviews commands as the configuration wants it, and keeps the verdicts for a while. */
export class Reviewers {
  readonly #llm: LlmCalls;
  readonly #settings: () => ReviewerSettings;
  readonly #secrets: SecretMask;
  readonly #cache: ReviewCache;

  constructor(llm: LlmCalls, settings: () => ReviewerSettings, secrets: SecretMask) {
    this.#llm = llm;
    this.#settings = settings;
    this.#secrets = secrets;
    this.#cache = new ReviewCache(() => settings().cacheMs);
  }

  /** The model that reviews now; undefined when none is configured. */
  readonly current = (): Reviewer | undefined => {
    const { provider, shellProvider, baseUrl, model, apiKey } = this.#settings();
    const identity = JSON.stringify([provider, shellProvider, baseUrl, model]);
    if (provider !== 'openai')
      return this.#wrap(new ProviderReviewer(this.#llm, provider, shellProvider, model), identity);
    return model === undefined ? undefined : this.#wrap(new OpenAiReviewer(model, baseUrl, apiKey), identity);
  };

  /** Masks secrets in the questions, because the model may be a third-party service. */
  #wrap(reviewer: Reviewer, identity: string): Reviewer {
    const { name } = reviewer;
    const masking: Reviewer = {
      name,
      review: (question, signal) => reviewer.review(this.#secrets.value(question), signal),
    };
    return this.#cache.wrap(masking, identity);
  }
}
