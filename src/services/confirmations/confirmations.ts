import { type Principal, canAccess, type AccessKind } from '../../core/access/principal.js';
import { boundText, isCovered } from '../../core/confirmation/bindings.js';
import { type ConfirmationMode, type ConfirmationWays, isAsStrict, wayOf } from '../../core/confirmation/modes.js';
import type {
  ConfirmationObserver,
  ConfirmationOutcome,
  ConfirmationRecord,
  Decider,
} from '../../core/confirmation/record.js';
import type { PolicyVerdict } from '../../core/policy/decision/policy.js';
import { AdapterError } from '../../core/errors.js';
import { confirmationIdFrom, ID_BYTES } from '../../core/ids.js';
import type { Request } from '../../core/protocol/requests.js';
import type { Warning } from '../../engine/command/command.js';
import { randomBytes } from '../../engine/system/random.js';
import type { Caller, EventSink } from '../registry/caller.js';
import type { Connections } from '../registry/connections.js';
import { type ConfirmableAction, Confirmation, type ConfirmedAnswer } from './confirmation.js';
import { isOwn, isVisible, mayDecide, refusalOf } from './deciders.js';
import * as failures from './failures.js';
import { reviewCommand } from './review.js';
import type { Reviewer } from './reviewer.js';
import { infoOf } from './wire.js';

/** Confirmations of one token that may be open at a time: nobody can look at more of them. */
export const MAX_OPEN = 16;
/** Answers that do not fit, after which a confirmation is void. */
const MAX_MISMATCHES = 3;

/** How commands are confirmed. */
export interface ConfirmationSettings extends ConfirmationWays {
  readonly expiresMs: number;
  readonly reviewTimeoutMs: number;
}

/** Saves the workspace before something is done that may destroy; gives the id, or why that could not be done. */
export type SaveBefore = (
  action: ConfirmableAction,
) => Promise<{ readonly checkpointId: string | undefined; readonly warnings: readonly Warning[] }>;

/** What the confirmations are made of. */
export interface ConfirmationsOptions {
  readonly settings: () => ConfirmationSettings;
  /** Where events go. */
  readonly connections: Pick<Connections, 'all'>;
  /** Undefined where no model is configured: what it would have to confirm is refused. */
  readonly reviewer: () => Reviewer | undefined;
  readonly save: SaveBefore;
  /** Whether a principal's token still counts: one that waits nowhere is not told of its end. */
  readonly isActive: (principal: Principal) => boolean;
  readonly observe: ConfirmationObserver;
}

/** An answer to a confirmation: whose, and why. */
interface Decision {
  readonly by: Decider;
  readonly justification: string;
}

const NOBODY: Decision = { by: undefined, justification: '' };

/**
 * What waits for a confirmation, and the one way in which it can be given: once, in time, for exactly what was stopped, by
 * whoever may. Whatever else happens, nothing is run.
 */
export class Confirmations implements AsyncDisposable {
  readonly #options: ConfirmationsOptions;
  readonly #open = new Map<string, Confirmation>();
  /** Those of commands, until these have been run: a request that is sent again finds its own. */
  readonly #ofCommands = new Set<Confirmation>();
  #hasEnded = false;

  constructor(options: ConfirmationsOptions) {
    this.#options = options;
  }

  /**
   * Has something confirmed. Its `answer` is what becomes of it.
   * @throws AdapterError RATE_LIMITED when too much of the same principal waits already
   */
  ask(action: ConfirmableAction): Confirmation {
    if (this.#hasEnded) throw failures.shuttingDown();
    const { principal } = action.caller;
    const own = [...this.#open.values()].filter(({ requester }) => requester.id === principal.id);
    if (own.length >= MAX_OPEN) throw failures.tooMany(own, MAX_OPEN);
    const { expiresMs, ...ways } = this.#options.settings();
    const mode = wayOf(action.verdict, ways);
    const id = confirmationIdFrom(randomBytes(ID_BYTES));
    const confirmation = new Confirmation(id, action, mode, expiresMs);
    this.#open.set(id, confirmation);
    if (action.kind === 'command') this.#ofCommands.add(confirmation);
    const timer = setTimeout(() => {
      this.#close(confirmation, 'expired', NOBODY);
    }, expiresMs).unref();
    confirmation.closed.signal.addEventListener('abort', () => {
      clearTimeout(timer);
    });
    this.#note(confirmation, 'asked', { by: principal, justification: '' });
    for (const caller of this.#audienceOf(confirmation)) {
      caller.sink?.send('confirmation_required', infoOf(confirmation, caller.principal));
    }
    if (mode === 'llm') void this.#review(confirmation);
    return confirmation;
  }

  /**
   * A client waits for what becomes of something, unless it does not want to, or has to confirm it itself: whether it waits.
   * When all who wait have gone, nobody has to decide any more.
   */
  join(confirmation: Confirmation, { sink }: Caller, wantsToWait: boolean): boolean {
    if (confirmation.mode === 'self' || !wantsToWait) return false;
    if (sink) confirmation.waiting.add(sink);
    return true;
  }

  /** What has been asked about the command of this id. */
  ofCommand(commandId: string | undefined, principal: Principal, reach: AccessKind): Confirmation | undefined {
    if (this.#ofCommands.size === 0 || commandId === undefined) return undefined;
    const found = [...this.#ofCommands].filter(({ action }) => action.commandId === commandId);
    return (
      found.find(({ action }) => action.owner.id === principal.id) ??
      found.find(({ action }) => canAccess(principal, action.owner.id, reach))
    );
  }

  /** What waits and concerns a principal, the oldest first. */
  seenBy(principal: Principal): Confirmation[] {
    return [...this.#open.values()].filter((confirmation) => isVisible(confirmation, principal));
  }

  /**
   * Takes a decision; gives what has become of what was approved, or undefined after a rejection. A client may always take
   * back what it has asked for itself, by rejecting it.
   * @throws AdapterError CONFIRMATION_NOT_FOUND, CONFIRMATION_MISMATCH, FORBIDDEN, INVALID_REQUEST
   */
  async decide(request: Request<'confirm_command'>, caller: Caller): Promise<ConfirmedAnswer | undefined> {
    const { principal } = caller;
    const confirmation = this.find(request.confirmation_id, principal);
    const decision: Decision = { by: principal, justification: request.justification?.trim() ?? '' };
    if (request.decision === 'reject' && isOwn(confirmation, principal) && confirmation.mode !== 'self') {
      this.#close(confirmation, 'withdrawn', decision);
      return undefined;
    }
    if (!mayDecide(confirmation, principal)) {
      this.#note(confirmation, 'refused', decision);
      throw refusalOf(confirmation, principal);
    }
    const { command_sha256: sha256 } = request;
    if (sha256 !== undefined && sha256 !== confirmation.sha256) throw this.#mismatch(confirmation, decision);
    if (request.decision === 'reject') {
      this.#close(confirmation, 'rejected', decision);
      return undefined;
    }
    if (confirmation.mode === 'self') failures.assertMeant(request);
    return this.#approve(confirmation, decision, confirmation.mode === 'self' ? caller : confirmation.action.caller);
  }

  /** @throws AdapterError CONFIRMATION_NOT_FOUND */
  find(id: string, principal: Principal): Confirmation {
    const confirmation = this.#open.get(id);
    // Its timer may be late.
    if (confirmation && Date.now() >= confirmation.expiresAt.getTime()) this.#close(confirmation, 'expired', NOBODY);
    if (confirmation?.outcome !== undefined) throw failures.notFound(id);
    if (!confirmation || !isVisible(confirmation, principal)) throw failures.notFound(id);
    return confirmation;
  }

  /**
   * Sees that an approval covers what the policy says now.
   * @throws AdapterError CONFIRMATION_MISMATCH
   */
  assertCovered(asked: PolicyVerdict, mode: ConfirmationMode, now: PolicyVerdict): void {
    if (isCovered(asked, now) && isAsStrict(mode, wayOf(now, this.#options.settings()))) return;
    throw failures.changedPlace('what was confirmed would do something else by now, or needs another confirmation');
  }

  /** The client no longer wants it. */
  withdraw(confirmation: Confirmation, why: string): void {
    this.#close(confirmation, 'withdrawn', { by: confirmation.requester, justification: why });
  }

  /** A connection has ended: nobody waits there any more. */
  detach(sink: EventSink): void {
    for (const confirmation of [...this.#open.values()]) {
      if (!confirmation.waiting.delete(sink) || confirmation.waiting.size > 0) continue;
      this.#close(confirmation, 'withdrawn', { by: undefined, justification: 'the client has gone' });
    }
  }

  /** A session has ended, with all that was to be done in it. */
  endSession(sessionId: string): void {
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

  // --- deciding -----------------------------------------------------------------------------------------------------

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
      await this.#approve(confirmation, decision, confirmation.action.caller);
    } catch (error) {
      // Whoever waits for the answer has it; what could not begin has none yet.
      this.#close(confirmation, 'void', decision, error);
    }
  }

  /** Everything up to the closing happens at once: of two approvals, the second finds nothing. */
  #approve(confirmation: Confirmation, decision: Decision, caller: Caller): Promise<ConfirmedAnswer> {
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
    this.#close(confirmation, 'approved', decision);
    const answer = this.#carryOut(confirmation, caller);
    confirmation.answer.resolve(answer);
    return answer;
  }

  async #carryOut(confirmation: Confirmation, caller: Caller): Promise<ConfirmedAnswer> {
    const { action, mode } = confirmation;
    try {
      const { checkpointId, warnings } = await this.#options.save(action);
      if (this.#hasEnded) throw failures.shuttingDown();
      if (!this.#options.isActive(confirmation.requester)) throw failures.tokenEnded();
      return await action.run({ caller, mode, checkpointId, warnings });
    } finally {
      this.#ofCommands.delete(confirmation);
    }
  }

  #mismatch(confirmation: Confirmation, decision: Decision): AdapterError {
    confirmation.mismatches += 1;
    this.#note(confirmation, 'mismatch', decision);
    const left = MAX_MISMATCHES - confirmation.mismatches;
    if (left <= 0) this.#close(confirmation, 'void', decision);
    return failures.wrongHash(confirmation.id, left);
  }

  /** Ends the waiting, once. Unless it was approved, whoever waits gets an error. */
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
    const { action, id } = confirmation;
    for (const { sink } of this.#audienceOf(confirmation)) {
      sink?.send('confirmation_resolved', {
        confirmation_id: id,
        command_id: action.commandId,
        session_id: action.session?.id ?? null,
        outcome,
        decided_by: decision.by?.name ?? null,
        justification: decision.justification === '' ? null : decision.justification,
      });
    }
  }

  #audienceOf(confirmation: Confirmation): Caller[] {
    return this.#options.connections.all().filter(({ principal }) => isVisible(confirmation, principal));
  }

  #note(confirmation: Confirmation, event: ConfirmationRecord['event'], { by, justification }: Decision): void {
    const { id, action, mode, requester, sha256 } = confirmation;
    const isTyped = action.kind === 'input';
    this.#options.observe({
      event,
      confirmationId: id,
      mode,
      requester,
      by: by && { id: by.id, name: by.name },
      justification,
      command: isTyped ? undefined : boundText(action.request).replaceAll('\0', ' '),
      commandSha256: isTyped ? undefined : sha256,
      typedCharacters: action.typedCharacters,
      commandId: action.commandId,
      sessionId: action.session?.id ?? null,
      class: action.verdict.class,
      reasons: isTyped ? [] : action.verdict.reasons,
    });
  }
}
