import { LOCAL_PRINCIPAL } from '../../core/access/principal.js';
import { buildReview, type ReviewQuestion } from '../../core/confirmation/review-prompt.js';
import { readReview, type ReviewVerdict } from '../../core/confirmation/review-verdict.js';
import { callIdFrom, ID_BYTES } from '../../core/ids.js';
import type { LlmProviderName } from '../../core/llm/settings.js';
import { randomBytes } from '../../engine/system/random.js';
import type { Reviewer } from '../../services/confirmations/reviewer.js';
import type { LlmPort } from '../../services/ports/llm-port.js';

/** The provider of a reviewer. */
export interface ProviderReviewerOptions {
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
  readonly #llm: LlmPort;
  readonly #options: ProviderReviewerOptions;

  constructor(llm: LlmPort, options: ProviderReviewerOptions) {
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
