import type { Principal } from '../access/principal.js';
import type { CommandClass } from '../policy/model/classes.js';
import type { ConfirmationMode } from './modes.js';

/** Possible outcomes of a confirmation. All but the first mean that nothing was run. */
export const CONFIRMATION_OUTCOMES = ['approved', 'rejected', 'expired', 'withdrawn', 'void'] as const;

/**
 * Outcome of a confirmation: `withdrawn` when the session, connection or request of its client has ended, or the daemon
 * ends; `void` after too many wrong answers.
 */
export type ConfirmationOutcome = (typeof CONFIRMATION_OUTCOMES)[number];

/** The decider: a principal, the reviewing model, or undefined for none. */
export type Decider = Pick<Principal, 'id' | 'name'> | { readonly id: 'reviewer'; readonly name: string } | undefined;

/** One step of a confirmation, for logs. Every event of a confirmation is such a step. */
export interface ConfirmationRecord {
  /** `asked`, the outcome, or an answer that did not match (`mismatch`) or was not permitted (`refused`). */
  readonly event: 'asked' | 'mismatch' | 'refused' | ConfirmationOutcome;
  readonly confirmationId: string;
  readonly mode: ConfirmationMode;
  /** The principal that requested the command. */
  readonly requester: Principal;
  /** Author of this step: the requester for `asked`; undefined when the step was caused by a timer or the daemon. */
  readonly by: Decider;
  /** Reason given for the step; empty for none. */
  readonly justification: string;
  /** The requested command; undefined for typed text, which may be the answer to a password prompt. */
  readonly command: string | undefined;
  /** Undefined for typed text, since a password could be guessed from the hash. */
  readonly commandSha256: string | undefined;
  /** Number of typed characters; undefined for a command. */
  readonly typedCharacters: number | undefined;
  readonly commandId: string;
  readonly sessionId: string | null;
  readonly class: CommandClass;
  readonly reasons: readonly string[];
}

/** Receives every step of every confirmation when it happens. Returns at once and never throws. */
export type ConfirmationObserver = (record: ConfirmationRecord) => void;
