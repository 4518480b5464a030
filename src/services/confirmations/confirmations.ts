import { type AccessKind, canAccess, type Principal } from '../../core/principal.js';
import {
  type ConfirmationMode,
  type ConfirmationObserver,
  type ConfirmationOutcome,
  type ConfirmationRecord,
  type ConfirmationWays,
  isAsStrict,
  isCovered,
  wayOf,
} from '../../core/confirmation.js';
import type { RememberedApproval } from '../../core/remembered-approval.js';
import { AdapterError } from '../../core/errors.js';
import { confirmationIdFrom, ID_BYTES, type IdOptions } from '../../core/ids.js';
import type { PolicyVerdict } from '../../core/policy/policy.js';
import type { ConfirmationInfo } from '../../core/protocol/confirmations.js';
import type { Request } from '../../core/protocol/requests.js';
import type { Warning } from '../../engine/command/outcome.js';
import { randomBytes } from '../../engine/system/random.js';
import { type RememberedApprovals, rememberedOf, type RememberWish, unrememberable } from '../remembered-approvals.js';
import type { Caller, Connections, EventSink } from '../registry/caller.js';
import {
  type ConfirmableAction,
  Confirmation,
  type ConfirmedAnswer,
  type Decision,
  isVisible,
  mayDecide,
  mayWithdraw,
  refusalOf,
  reviewCommand,
  type Reviewer,
} from './confirmation.js';
import * as failures from './failures.js';
import { recordOf } from './records.js';
import { type ConfirmationTerms, infoOf, resolutionOf, termsOf } from './wire.js';

export interface ConfirmationSettings extends ConfirmationWays {
  readonly expiresMs: number;
  readonly reviewTimeoutMs: number;
}

/**
 * Saves a checkpoint of the workspace before a possibly destructive action; returns its id, or warnings why it could
 * not be saved.
 */
export type SaveBefore = (
  action: Pick<ConfirmableAction, 'kind' | 'request' | 'verdict'> & { readonly caller: Pick<Caller, 'principal'> },
) => Promise<{ readonly checkpointId: string | undefined; readonly warnings: readonly Warning[] }>;

interface ConfirmationsOptions extends IdOptions {
  readonly settings: () => ConfirmationSettings;
  readonly connections: Connections;
  /** Undefined when no model is configured: actions that it would have to confirm are rejected. */
  readonly reviewer: () => Reviewer | undefined;
  readonly save: SaveBefore;
  readonly approvals: RememberedApprovals;
  /** The newest checkpoint that a principal may see, as far as it is known. */
  readonly diffBaseFor: (viewer: Principal) => string | null;
  /** True while a principal's token is valid: a principal without a connection is not notified when it ends. */
  readonly isActive: (principal: Principal) => boolean;
  readonly observe: ConfirmationObserver;
}

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

/** Number of mismatched answers after which a confirmation is void. */
const MAX_MISMATCHES = 3;

/** Maximum number of open confirmations per token: a person cannot review more of them. */
export const MAX_OPEN = 16;

/** The answer to a request that the requester itself has to confirm. */
type Pending = ConfirmationTerms & { readonly status: 'confirmation_required' };

const NO_DECISION: Decision = { by: undefined, justification: '' };

/**
 * Pending confirmations. A confirmation is given at most once, in time, for exactly the action that was stopped, and by
 * an authorised principal. In all other cases nothing is run (fail closed).
 */
export class Confirmations implements AsyncDisposable {
  readonly #options: ConfirmationsOptions;
  readonly #open = new Map<string, Confirmation>();
  /** Confirmations of commands, until the commands have run: a repeated request finds its own. */
  readonly #ofCommands = new Set<Confirmation>();
  #hasEnded = false;

  constructor(options: ConfirmationsOptions) {
    this.#options = options;
  }

  /**
   * Requests a confirmation. Its `answer` is the result of the action.
   * @throws AdapterError RATE_LIMITED when the principal has too many open confirmations
   */
  ask(action: ConfirmableAction): Confirmation {
    if (this.#hasEnded) throw failures.shuttingDown();
    const { principal } = action.caller;
    const own = [...this.#open.values()].filter(({ requester }) => requester.id === principal.id);
    if (own.length >= MAX_OPEN) throw failures.tooMany(own, MAX_OPEN);
    const { expiresMs, ...ways } = this.#options.settings();
    const mode = wayOf(action.verdict, ways);
    const id = confirmationIdFrom(randomBytes(ID_BYTES), this.#options.node);
    const confirmation = new Confirmation(id, action, mode, expiresMs);
    this.#open.set(id, confirmation);
    if (action.kind === 'command') this.#ofCommands.add(confirmation);
    const timer = setTimeout(() => {
      this.#close(confirmation, 'expired', NO_DECISION);
    }, expiresMs).unref();
    confirmation.closed.signal.addEventListener('abort', () => {
      clearTimeout(timer);
    });
    this.#note(confirmation, 'asked', { by: principal, justification: '' });
    for (const { principal: viewer, sink } of this.#audienceOf(confirmation))
      sink?.send('confirmation_required', this.describe(confirmation, viewer));
    if (mode === 'llm') void this.#review(confirmation);
    return confirmation;
  }

  /**
   * Registers a client as waiting for the answer, unless it does not want to wait, or has to confirm the action itself.
   * When all waiting clients have disconnected, the confirmation is withdrawn.
   * @returns true when the client waits
   */
  join(confirmation: Confirmation, { sink }: Caller, wantsToWait: boolean): boolean {
    if (confirmation.mode === 'self' || !wantsToWait) return false;
    if (sink) confirmation.waiting.add(sink);
    if (sink?.isGone === true) this.detach(sink);
    return true;
  }

  /**
   * Requests a confirmation, and waits for the result of the action.
   * @returns the terms instead where the requester itself has to confirm it
   */
  async stop(action: ConfirmableAction): Promise<{ readonly answer: ConfirmedAnswer } | { readonly pending: Pending }> {
    const confirmation = this.ask(action);
    if (this.join(confirmation, action.caller, true)) return { answer: await confirmation.answer.promise };
    return { pending: { status: 'confirmation_required', ...termsOf(confirmation) } };
  }

  /**
   * Returns the confirmation that was requested for a command id.
   * @param sessionId the session of the command; without one, it may be of any session, or of none
   */
  ofCommand(
    commandId: string | undefined,
    principal: Principal,
    reach: AccessKind,
    sessionId?: string,
  ): Confirmation | undefined {
    if (this.#ofCommands.size === 0 || commandId === undefined) return undefined;
    const found = [...this.#ofCommands].filter(
      ({ action }) => action.commandId === commandId && (sessionId === undefined || action.session?.id === sessionId),
    );
    return (
      found.find(({ action }) => action.owner.id === principal.id) ??
      found.find(({ action }) => canAccess(principal, action.owner.id, reach))
    );
  }

  /** Open confirmations visible to a principal, the oldest first. */
  seenBy(principal: Principal): Confirmation[] {
    return [...this.#open.values()].filter((confirmation) => isVisible(confirmation, principal));
  }

  readonly describe = (confirmation: Confirmation, viewer: Principal): ConfirmationInfo =>
    infoOf(confirmation, viewer, this.#options.diffBaseFor(viewer));

  /**
   * Makes a decision; returns the result of the approved action, or undefined after a rejection. A client may always
   * withdraw its own request, by rejecting it. If the approval cannot be remembered as requested, the confirmation stays
   * open.
   * @throws AdapterError CONFIRMATION_NOT_FOUND, CONFIRMATION_MISMATCH, FORBIDDEN, INVALID_REQUEST, APPROVALS_UNAVAILABLE
   */
  async decide(request: Request<'confirm_command'>, caller: Caller): Promise<ConfirmedAnswer | undefined> {
    const { principal } = caller;
    const confirmation = this.find(request.confirmation_id, principal);
    const decision: Decision = { by: principal, justification: request.justification?.trim() ?? '' };
    if (request.decision === 'reject' && mayWithdraw(confirmation, principal)) {
      this.#close(confirmation, 'withdrawn', decision);
      return undefined;
    }
    if (!mayDecide(confirmation, principal)) {
      this.#note(confirmation, 'refused', decision);
      throw refusalOf(confirmation, principal);
    }
    if ((request.command_sha256 ?? confirmation.sha256) !== confirmation.sha256)
      throw this.#mismatch(confirmation, decision);
    if (request.decision === 'reject') {
      this.#close(confirmation, 'rejected', decision);
      return undefined;
    }
    const isOwn = confirmation.mode === 'self';
    if (isOwn) failures.assertMeant(request);
    const wish = request.remember && { scope: request.remember, approver: principal };
    return this.#approve(confirmation, decision, isOwn ? caller : confirmation.action.caller, wish);
  }

  /**
   * Returns an open confirmation.
   * @throws AdapterError CONFIRMATION_NOT_FOUND
   */
  find(id: string, principal: Principal): Confirmation {
    const confirmation = this.#open.get(id);
    // The expiry timer may be late.
    if (confirmation && Date.now() >= confirmation.expiresAt.getTime())
      this.#close(confirmation, 'expired', NO_DECISION);
    if (confirmation?.outcome !== undefined) throw failures.notFound(id);
    if (!confirmation || !isVisible(confirmation, principal)) throw failures.notFound(id);
    return confirmation;
  }

  /** Withdraws a confirmation on behalf of a principal that may stop its command. */
  withdraw(confirmation: Confirmation, by: Principal, why: string): void {
    this.#close(confirmation, 'withdrawn', { by, justification: why });
  }

  /** Handles the end of a connection: withdraws confirmations without a waiting client. */
  detach(sink: EventSink): void {
    for (const confirmation of [...this.#open.values()]) {
      if (!confirmation.waiting.delete(sink) || confirmation.waiting.size > 0) continue;
      this.#close(confirmation, 'withdrawn', { by: undefined, justification: 'the client has gone' });
    }
  }

  /** Handles the end of a session: withdraws its confirmations, and ends the approvals remembered for it. */
  endSession(sessionId: string): void {
    this.#options.approvals.endSession(sessionId);
    for (const confirmation of [...this.#open.values()]) {
      if (confirmation.action.session?.id !== sessionId) continue;
      this.#close(confirmation, 'withdrawn', { by: undefined, justification: 'its session has ended' });
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#hasEnded = true;
    const why = { by: undefined, justification: 'the daemon is ending' };
    for (const confirmation of [...this.#open.values()]) this.#close(confirmation, 'withdrawn', why);
    return Promise.resolve();
  }

  async #review(confirmation: Confirmation): Promise<void> {
    const reviewer = this.#options.reviewer();
    const { reviewTimeoutMs } = this.#options.settings();
    const { verdict, reason } = await reviewCommand(reviewer, confirmation, reviewTimeoutMs);
    // Meanwhile it may have expired, or been withdrawn.
    if (confirmation.outcome !== undefined) return;
    const decision: Decision = { by: { id: 'reviewer', name: reviewer?.name ?? 'none' }, justification: reason };
    if (verdict === 'reject') {
      this.#close(confirmation, 'rejected', decision);
      return;
    }
    try {
      await this.#approve(confirmation, decision, confirmation.action.caller, undefined);
    } catch (error) {
      // After the start, the answer has the error already; an action that could not start has no answer yet.
      this.#close(confirmation, 'void', decision, error);
    }
  }

  /**
   * Carries an approved action out. Everything up to the closing is synchronous: a second approval finds the
   * confirmation closed.
   */
  #approve(
    confirmation: Confirmation,
    decision: Decision,
    caller: Caller,
    wish: Pick<RememberWish, 'scope' | 'approver'> | undefined,
  ): Promise<ConfirmedAnswer> {
    if (!this.#options.isActive(confirmation.requester)) {
      this.#close(confirmation, 'withdrawn', { by: undefined, justification: failures.TOKEN_ENDED });
      throw failures.tokenEnded();
    }
    try {
      confirmation.action.assertReady();
    } catch (error) {
      if (error instanceof AdapterError && error.code === 'CONFIRMATION_MISMATCH') {
        this.#mismatch(confirmation, decision);
      }
      throw error;
    }
    const remembered = wish && remember(this.#options.approvals, confirmation, wish);
    this.#close(confirmation, 'approved', { ...decision, remembered });
    const answer = this.#carryOut(confirmation, caller);
    confirmation.answer.resolve(answer);
    return remembered ? answer.then((result) => ({ ...result, remembered: rememberedOf(remembered) })) : answer;
  }

  async #carryOut(confirmation: Confirmation, caller: Caller): Promise<ConfirmedAnswer> {
    const { action, mode, id: confirmationId } = confirmation;
    try {
      const { checkpointId, warnings } = await this.#options.save(action);
      if (this.#hasEnded) throw failures.shuttingDown();
      if (!this.#options.isActive(confirmation.requester)) throw failures.tokenEnded();
      const now = await action.judge();
      if (now) this.#assertCovered(action.judged ?? action.verdict, mode, now);
      return await action.run({ caller, mode, confirmationId, checkpointId, warnings });
    } finally {
      this.#ofCommands.delete(confirmation);
    }
  }

  /** @throws AdapterError CONFIRMATION_MISMATCH unless an approval of what was asked covers the present verdict */
  #assertCovered(asked: PolicyVerdict, mode: ConfirmationMode, now: PolicyVerdict): void {
    if (isCovered(asked, now) && isAsStrict(mode, wayOf(now, this.#options.settings()))) return;
    throw failures.changedPlace('what was confirmed would do something else by now, or needs another confirmation');
  }

  /**
   * Counts an approval of something else; too many make the confirmation void.
   * @returns the error for the answer
   */
  #mismatch(confirmation: Confirmation, decision: Decision): AdapterError {
    confirmation.mismatches += 1;
    this.#note(confirmation, 'mismatch', decision);
    const left = MAX_MISMATCHES - confirmation.mismatches;
    if (left <= 0) this.#close(confirmation, 'void', decision);
    return failures.wrongHash(confirmation.id, left);
  }

  /** Closes a confirmation, once. Unless it was approved, waiting callers get an error. */
  #close(confirmation: Confirmation, outcome: ConfirmationOutcome, decision: Decision, cause?: unknown): void {
    if (confirmation.outcome !== undefined) return;
    confirmation.outcome = outcome;
    this.#open.delete(confirmation.id);
    confirmation.closed.abort();
    if (outcome !== 'approved') {
      this.#ofCommands.delete(confirmation);
      confirmation.answer.reject(cause ?? failures.denial(confirmation, outcome, decision, this.#hasEnded));
    }
    this.#note(confirmation, outcome, decision);
    for (const { sink } of this.#audienceOf(confirmation)) {
      sink?.send('confirmation_resolved', resolutionOf(confirmation, outcome, decision));
    }
  }

  #audienceOf(confirmation: Confirmation): Caller[] {
    return this.#options.connections.all().filter(({ principal }) => isVisible(confirmation, principal));
  }

  #note(confirmation: Confirmation, event: ConfirmationRecord['event'], decision: Decision): void {
    this.#options.observe(recordOf(confirmation, event, decision));
  }
}
