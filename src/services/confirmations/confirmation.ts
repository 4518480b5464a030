import { createHash } from 'node:crypto';

import type { Principal } from '../../core/access/principal.js';
import { boundText } from '../../core/confirmation/bindings.js';
import type { ConfirmationMode } from '../../core/confirmation/modes.js';
import type { ConfirmationOutcome } from '../../core/confirmation/record.js';
import type { PolicyRequest } from '../../core/policy/analysis/inspection.js';
import type { PolicyVerdict } from '../../core/policy/decision/policy.js';
import type { ConfirmationInfo } from '../../core/protocol/confirmations.js';
import type { Answer } from '../../core/protocol/requests.js';
import { Deferred } from '../../engine/system/promises.js';
import type { Warning } from '../../engine/command/outcome.js';
import type { Caller, EventSink } from '../registry/caller.js';
import type { JudgedPlace } from '../approvals/coverage.js';
import type { SessionRecord } from '../registry/session-registry.js';

/** The result of a confirmed action. */
export type ConfirmedAnswer = Answer<'confirm_command'>;

/** Facts that accompany an approval. */
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
   * Repeats the checks, and does the action.
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
  /** Number of mismatched answers so far. */
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

  /** The principal that requested the action. */
  get requester(): Principal {
    return this.action.caller.principal;
  }
}
