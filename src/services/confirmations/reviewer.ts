import type { ReviewQuestion } from '../../core/confirmation/review-prompt.js';
import type { ReviewVerdict } from '../../core/confirmation/review-verdict.js';

/** A model that confirms commands. Every failure rejects the promise, and counts as a rejection of the command. */
export interface Reviewer {
  /** Name of the model, for messages and logs. */
  readonly name: string;
  /** Reviews a command. `signal` is aborted when the time for the answer is over. */
  review(question: ReviewQuestion, signal: AbortSignal): Promise<ReviewVerdict>;
}
