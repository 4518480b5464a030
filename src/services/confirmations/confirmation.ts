import { createHash } from 'node:crypto';

import type { Principal } from '../../core/principal.js';
import { boundText, type ConfirmationMode, type ConfirmationOutcome, type Decider } from '../../core/confirmation.js';
import type { RememberedApproval } from '../../core/remembered-approval.js';
import type { ReviewQuestion, ReviewVerdict } from '../../core/review.js';
import { AdapterError } from '../../core/errors.js';
import type { PolicyRequest } from '../../core/policy/analysis/inspect.js';
import type { PolicyVerdict } from '../../core/policy/policy.js';
import type { ConfirmationInfo } from '../../core/protocol/confirmations.js';
import type { Answer } from '../../core/protocol/requests.js';
import type { Warning } from '../../engine/command/outcome.js';
import { Deferred } from '../../engine/system/promises.js';
import type { JudgedPlace } from '../approval-coverage.js';
import type { Caller, EventSink } from '../registry/caller.js';
import type { SessionRecord } from '../registry/session-registry.js';

export type ConfirmedAnswer = Answer<'confirm_command'>;

export interface Approval {
  /** The caller whose connection receives streamed output. */
  readonly caller: Caller;
  readonly mode: ConfirmationMode;
  readonly confirmationId: string;
  readonly checkpointId: string | undefined;
  readonly warnings: readonly Warning[];
}

/**
 * An action that was stopped, and can be done once it is confirmed. Only this action is ever done: no request is sent
 * again.
 */
export interface ConfirmableAction {
  readonly kind: ConfirmationInfo['kind'];
  /** The text that is confirmed, with all its inputs. For typed text, a description that contains none of it. */
  readonly request: PolicyRequest;
  readonly verdict: PolicyVerdict;
  /** The whole verdict, which an approval covers, where `verdict` shows a part of it. */
  readonly judged?: PolicyVerdict;
  /** Length of typed text, in characters; undefined for a command. */
  readonly typedCharacters?: number;
  /** Id of the command, or of the command that reads the typed text; that of a restore names no command. */
  readonly commandId: string;
  /** Distinguishes a repeated request from a different one with the same id. */
  readonly fingerprint: string;
  readonly session: SessionRecord | undefined;
  /** Where it was judged; undefined for typed text, whose approvals cannot be remembered. */
  readonly place?: JudgedPlace | undefined;
  /** Absolute path of the directory in which the action is done. */
  readonly directory: string;
  /** The requester, and the principal that will own the command. */
  readonly caller: Caller;
  readonly owner: Principal;
  /** @throws AdapterError when the action cannot be done now, because its place has changed or is busy */
  assertReady(): void;
  /**
   * Judges the action again. The approval has to cover the verdict before the action is run.
   * @returns undefined when it is allowed by now
   * @throws AdapterError when it is denied, or its place has changed
   */
  judge(): PolicyVerdict | undefined | Promise<PolicyVerdict | undefined>;
  /**
   * Does the action.
   * @throws AdapterError when its effect would be different now
   */
  run(approval: Approval): Promise<ConfirmedAnswer>;
}

/** An action that is waiting for its confirmation, or is being done after it. */
export class Confirmation {
  readonly id: string;
  readonly action: ConfirmableAction;
  readonly mode: ConfirmationMode;
  /** SHA-256 of `boundText`, in hexadecimal digits. */
  readonly sha256: string;
  readonly requestedAt = new Date();
  readonly expiresAt: Date;
  /** The result of the action: rejects with COMMAND_DENIED when it is not confirmed. */
  readonly answer = new Deferred<ConfirmedAnswer>();
  /** Aborted when the confirmation is closed. */
  readonly closed = new AbortController();
  /** Connections of clients that wait for the answer. */
  readonly waiting = new Set<EventSink>();
  outcome: ConfirmationOutcome | undefined;
  mismatches = 0;

  constructor(id: string, action: ConfirmableAction, mode: ConfirmationMode, expiresMs: number) {
    this.id = id;
    this.action = action;
    this.mode = mode;
    this.sha256 = createHash('sha256').update(boundText(action.request)).digest('hex');
    this.expiresAt = new Date(this.requestedAt.getTime() + expiresMs);
    // Waiting callers get the rejection; without any, it must not become an unhandled rejection.
    this.answer.promise.catch(() => undefined);
  }

  get requester(): Principal {
    return this.action.caller.principal;
  }
}

/** A decision on a confirmation: the decider and the justification. */
export interface Decision {
  readonly by: Decider;
  /** Empty for none. */
  readonly justification: string;
  /** The approval, if it is remembered. */
  readonly remembered?: RememberedApproval | undefined;
}

type Asked = Pick<Confirmation, 'mode' | 'requester'>;

/** True when the principal requested the action itself. */
const isOwn = ({ requester }: Asked, { id }: Principal): boolean => id === requester.id;

/**
 * True when a principal may know of a confirmation: its requester, and operators for what operators decide. To all
 * others it does not seem to exist.
 */
export const isVisible = (asked: Asked, principal: Principal): boolean =>
  isOwn(asked, principal) || (asked.mode === 'operator' && isOperator(principal));

/** True when a principal may decide. A command can never confirm itself over the connection that needs no token. */
export function mayDecide(asked: Asked, principal: Principal): boolean {
  if (asked.mode === 'self') return isOwn(asked, principal);
  return asked.mode === 'operator' && isOperator(principal) && !isOwn(asked, principal) && !principal.isLocalPeer;
}

/** True when a principal may withdraw a request: its own, unless rejecting it decides on it. */
export const mayWithdraw = (asked: Asked, principal: Principal): boolean =>
  asked.mode !== 'self' && isOwn(asked, principal);

const isOperator = ({ role }: Principal): boolean => role === 'operator' || role === 'admin';

/** The error for a principal that sees a confirmation but may not decide on it. */
export function refusalOf(asked: Asked, principal: Principal): AdapterError {
  const { mode } = asked;
  const details = { requires: mode, role: principal.role };
  if (mode === 'llm') {
    return new AdapterError('FORBIDDEN', 'a model decides over this: no principal can', { details });
  }
  const why = principal.isLocalPeer
    ? 'programs that connect without a token cannot decide for an operator, because commands could'
    : isOwn(asked, principal)
      ? 'the client that has asked for a command cannot be the operator that confirms it'
      : `the role ${principal.role} is not an operator’s`;
  const hint = '`shell-adapter token create --role operator` makes a token that can';
  return new AdapterError('FORBIDDEN', `${why}; ${hint}`, { details: { ...details, needs: ['operator', 'admin'] } });
}

/** A model that confirms commands. Every failure rejects the promise, and counts as a rejection of the command. */
export interface Reviewer {
  /** Name of the model, for messages and logs. */
  readonly name: string;
  /** Reviews a command. `signal` is aborted when the time for the answer is over. */
  review(question: ReviewQuestion, signal: AbortSignal): Promise<ReviewVerdict>;
}

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
