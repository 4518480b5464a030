import { createHash } from 'node:crypto';

import { BoundedMap } from '../../core/bounded-map.js';
import { LOCAL_PRINCIPAL } from '../../core/principal.js';
import { buildReview, readReview, type ReviewVerdict } from '../../core/review.js';
import { ID_BYTES } from '../../core/ids.js';
import { explainUnreadable, type LlmMessage, readCompletion } from '../../core/llm/messages.js';
import type { LlmProviderName } from '../../core/llm/settings.js';
import type { Secret } from '../../core/secret.js';
import type { SecretMask } from '../../core/secrets.js';
import { randomBytes } from '../../engine/system/random.js';
import type { Reviewer } from '../confirmations/confirmation.js';
import type { LlmCalls } from './calls.js';
import { openAiClient } from './http-providers.js';

/** Largest answer of the server, in bytes: a verdict takes about one hundred. */
const MAX_RESPONSE_BYTES = 256 * 1024;

/** Asks a model once; returns the content of its answer. */
type AskModel = (messages: readonly LlmMessage[], signal: AbortSignal) => Promise<string>;

const reviewerBy = (name: string, ask: AskModel): Reviewer => ({
  name,
  review: async (question, signal) => {
    const messages = buildReview(question, randomBytes(ID_BYTES).toString('hex'));
    if (!messages) throw new Error('the command is too long to be reviewed');
    const verdict = readReview(await ask(messages, signal));
    if (!verdict) throw new Error('its answer is not one JSON object with verdict and reason');
    return verdict;
  },
});

/**
 * A model behind an HTTP API like OpenAI's: `POST /chat/completions`.
 * @param apiKey undefined for servers without authentication
 */
const openAiReviewer = (model: string, baseUrl: string, apiKey: Secret | undefined): Reviewer =>
  reviewerBy(model, async (messages, signal) => {
    const client = await openAiClient(baseUrl, apiKey, 0, MAX_RESPONSE_BYTES);
    const format = { temperature: 0, response_format: { type: 'json_object' } } as const;
    const body = { model, messages: [...messages], ...format };
    try {
      const { choice, choiceCount } = readCompletion(await client.chat.completions.create(body, { signal }));
      return choiceCount === 1 && choice.finishReason === 'stop' ? choice.content : '';
    } catch (error) {
      throw explainUnreadable(error);
    }
  });

/** The caller of reviews: a principal that no client has, so that no client can cancel them. */
const REVIEWER = { principal: { ...LOCAL_PRINCIPAL, id: 'reviewer', name: 'reviewer' }, sink: undefined };

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
    if (provider !== 'openai') return this.#wrap(this.#byProvider(provider, shellProvider, model), identity);
    return model === undefined ? undefined : this.#wrap(openAiReviewer(model, baseUrl, apiKey), identity);
  };

  /** A provider of the section `llm`: a command-line tool, or a service. */
  #byProvider(provider: LlmProviderName, shellProvider: string | undefined, model: string | undefined): Reviewer {
    return reviewerBy(model ?? shellProvider ?? provider, async (messages, signal) => {
      const wish = { provider, shell_provider: shellProvider, model, messages: [...messages] };
      // The command under review may contain a prompt injection.
      const { content } = await this.#llm.call(wish, REVIEWER, { isReadOnly: true, signal });
      return content;
    });
  }

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
