import type { ReviewQuestion } from '../../core/confirmation/review-prompt.js';
import type { ReviewVerdict } from '../../core/confirmation/review-verdict.js';
import type { Confirmation } from './confirmation.js';
import type { Reviewer } from './reviewer.js';

/** Longest reason that is passed on, in characters. */
const MAX_REASON_LENGTH = 1000;

/**
 * Requests a review from a model. Every failure (no model, no answer in time, an invalid answer) is a rejection. Never
 * rejects the promise.
 */
export async function reviewCommand(
  reviewer: Reviewer | undefined,
  { action, closed }: Confirmation,
  timeoutMs: number,
): Promise<ReviewVerdict> {
  if (!reviewer) return no('there is no model to review it');
  const stop = new AbortController();
  const timer = setTimeout(() => {
    stop.abort(new Error(`it has not answered within ${timeoutMs} ms`));
  }, timeoutMs).unref();
  closed.signal.addEventListener('abort', () => {
    stop.abort(new Error('no client waits for it any more'));
  });
  try {
    // The race ends the wait for a reviewer that ignores the abort signal.
    const { verdict, reason } = await Promise.race([
      reviewer.review(questionOf(action), stop.signal),
      rejection(stop.signal),
    ]);
    return { verdict, reason: reason.slice(0, MAX_REASON_LENGTH) };
  } catch (error) {
    return no(`the reviewing model ${reviewer.name} gave no verdict: ${(error as Error).message}`);
  } finally {
    clearTimeout(timer);
  }
}

const no = (reason: string): ReviewVerdict => ({ verdict: 'reject', reason: reason.slice(0, MAX_REASON_LENGTH) });

const rejection = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error);
    });
  });

const questionOf = ({ kind, request, session, directory, verdict }: Confirmation['action']): ReviewQuestion => ({
  kind,
  command: request.command,
  args: request.args,
  stdin: request.stdin,
  variables: Object.keys(request.env ?? {}),
  workingDirectory: directory,
  sessionLabel: session?.label,
  verdict,
});
