import type { ReviewQuestion } from '../../core/confirmation/review-prompt.js';
import type { ReviewVerdict } from '../../core/confirmation/review-verdict.js';

/** A model that confirms commands. Whatever goes wrong is a rejection of the promise, and means no. */
export interface Reviewer {
  /** For people and logs: which model it is. */
  readonly name: string;
  /** Reviews a command. `signal` is aborted when the answer comes too late. */
  review(question: ReviewQuestion, signal: AbortSignal): Promise<ReviewVerdict>;
}
