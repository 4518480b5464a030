import { createHash } from 'node:crypto';

import type { ReviewVerdict } from '../../core/review.js';
import type { Reviewer } from './confirmation.js';

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
  readonly #kept = new Map<string, KeptVerdict>();

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
        this.#keep(key, verdict);
        return verdict;
      },
    };
  }

  #find(key: string): ReviewVerdict | undefined {
    const kept = this.#kept.get(key);
    const isFresh = kept !== undefined && performance.now() - kept.givenAt < this.#maxAgeMs();
    return isFresh ? kept.verdict : undefined;
  }

  #keep(key: string, verdict: ReviewVerdict): void {
    this.#kept.delete(key);
    this.#kept.set(key, { verdict, givenAt: performance.now() });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_VERDICTS && oldest !== undefined) this.#kept.delete(oldest);
  }
}
