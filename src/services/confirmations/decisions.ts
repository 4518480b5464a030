import type { ConfirmationOutcome, ConfirmationRecord } from '../../core/confirmation.js';
import type { RememberedApproval } from '../../core/remembered-approval.js';
import type { ReviewQuestion, ReviewVerdict } from '../../core/review.js';
import { AdapterError } from '../../core/errors.js';
import type { Request } from '../../core/protocol/requests.js';
import { type RememberedApprovals, rememberedOf, type RememberWish, unrememberable } from '../remembered-approvals.js';
import type { Caller } from '../registry/caller.js';
import type { Confirmation, ConfirmedAnswer, Decision, Reviewer } from './confirmation.js';
import type { ConfirmationsOptions } from './confirmations.js';
import * as failures from './failures.js';

/**
 * Remembers the approval of a confirmation.
 * @throws AdapterError INVALID_REQUEST, FORBIDDEN, APPROVALS_UNAVAILABLE
 */
function remember(
  approvals: RememberedApprovals,
  { action, mode, requester }: Confirmation,
  { scope, approver }: Pick<RememberWish, 'scope' | 'approver'>,
): RememberedApproval {
  const { request, verdict, place } = action;
  if (!place) throw unrememberable('typed input is confirmed each time');
  return approvals.remember({ judged: { request, verdict, place }, scope, requester, approver, mode });
}

/** Longest reason that is passed on, in characters. */
const MAX_REASON_LENGTH = 1000;

/**
 * Requests a review from a model. Every failure (no model, no answer in time, an invalid answer) is a rejection. Never
 * rejects the promise.
 */
async function reviewCommand(
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

/** Number of mismatched answers after which a confirmation is void. */
const MAX_MISMATCHES = 3;

/** Dependencies of `Decisions`. */
interface DecisionsOptions extends Pick<
  ConfirmationsOptions,
  'settings' | 'reviewer' | 'save' | 'approvals' | 'isActive'
> {
  /** Closes a confirmation, once. */
  readonly close: (
    confirmation: Confirmation,
    outcome: ConfirmationOutcome,
    decision: Decision,
    cause?: unknown,
  ) => void;
  /** Records what has happened to a confirmation. */
  readonly note: (confirmation: Confirmation, event: ConfirmationRecord['event'], decision: Decision) => void;
  /** Called when an approved action has run. */
  readonly finish: (confirmation: Confirmation) => void;
  /** True once the daemon is ending. */
  readonly hasEnded: () => boolean;
}

/** An approval that is about to be carried out. */
interface Approving {
  readonly caller: Caller;
  readonly wish?: Pick<RememberWish, 'scope' | 'approver'> | undefined;
}

/** How an approval, by a principal or by a model, becomes the action that was stopped. */
export class Decisions {
  readonly #options: DecisionsOptions;

  constructor(options: DecisionsOptions) {
    this.#options = options;
  }

  /** Carries an action out that a principal has approved. */
  approveAs(
    request: Request<'confirm_command'>,
    confirmation: Confirmation,
    decision: Decision,
    caller: Caller,
  ): Promise<ConfirmedAnswer> {
    const isOwn = confirmation.mode === 'self';
    if (isOwn) failures.assertMeant(request);
    const wish = request.remember && { scope: request.remember, approver: caller.principal };
    return this.#approve(confirmation, decision, { caller: isOwn ? caller : confirmation.action.caller, wish });
  }

  /** Has a model decide. */
  async review(confirmation: Confirmation): Promise<void> {
    const reviewer = this.#options.reviewer();
    const { reviewTimeoutMs } = this.#options.settings();
    const { verdict, reason } = await reviewCommand(reviewer, confirmation, reviewTimeoutMs);
    // Meanwhile it may have expired, or been withdrawn.
    if (confirmation.outcome !== undefined) return;
    const decision: Decision = { by: { id: 'reviewer', name: reviewer?.name ?? 'none' }, justification: reason };
    if (verdict === 'reject') {
      this.#options.close(confirmation, 'rejected', decision);
      return;
    }
    try {
      await this.#approve(confirmation, decision, { caller: confirmation.action.caller });
    } catch (error) {
      // After the start, the answer has the error already; an action that could not start has no answer yet.
      this.#options.close(confirmation, 'void', decision, error);
    }
  }

  /** Everything up to the closing is synchronous: a second approval finds the confirmation closed. */
  #approve(confirmation: Confirmation, decision: Decision, { caller, wish }: Approving): Promise<ConfirmedAnswer> {
    if (!this.#options.isActive(confirmation.requester)) {
      this.#options.close(confirmation, 'withdrawn', { by: undefined, justification: failures.TOKEN_ENDED });
      throw failures.tokenEnded();
    }
    try {
      confirmation.action.assertReady();
    } catch (error) {
      if (error instanceof AdapterError && error.code === 'CONFIRMATION_MISMATCH') {
        this.mismatch(confirmation, decision);
      }
      throw error;
    }
    const remembered = wish && remember(this.#options.approvals, confirmation, wish);
    this.#options.close(confirmation, 'approved', { ...decision, remembered });
    const answer = this.#carryOut(confirmation, caller);
    confirmation.answer.resolve(answer);
    return remembered ? answer.then((result) => ({ ...result, remembered: rememberedOf(remembered) })) : answer;
  }

  async #carryOut(confirmation: Confirmation, caller: Caller): Promise<ConfirmedAnswer> {
    const { action, mode, id: confirmationId } = confirmation;
    try {
      const { checkpointId, warnings } = await this.#options.save(action);
      if (this.#options.hasEnded()) throw failures.shuttingDown();
      if (!this.#options.isActive(confirmation.requester)) throw failures.tokenEnded();
      return await action.run({ caller, mode, confirmationId, checkpointId, warnings });
    } finally {
      this.#options.finish(confirmation);
    }
  }

  /**
   * Counts an approval of something else; too many make the confirmation void.
   * @returns the error for the answer
   */
  mismatch(confirmation: Confirmation, decision: Decision): AdapterError {
    confirmation.mismatches += 1;
    this.#options.note(confirmation, 'mismatch', decision);
    const left = MAX_MISMATCHES - confirmation.mismatches;
    if (left <= 0) this.#options.close(confirmation, 'void', decision);
    return failures.wrongHash(confirmation.id, left);
  }
}
