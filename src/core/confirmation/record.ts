import type { Principal } from '../access/principal.js';
import type { CommandClass } from '../policy/model/classes.js';
import type { ConfirmationMode } from './modes.js';

/** How a confirmation can end. All but the first mean that nothing was run. */
export const CONFIRMATION_OUTCOMES = ['approved', 'rejected', 'expired', 'withdrawn', 'void'] as const;

/**
 * How a confirmation has ended: `withdrawn` by its own client, whose session, connection or request has ended, or by the
 * daemon's end; `void` after too many answers that did not fit.
 */
export type ConfirmationOutcome = (typeof CONFIRMATION_OUTCOMES)[number];

/** Who has decided: a principal, the reviewing model, or nobody. */
export type Decider = Pick<Principal, 'id' | 'name'> | { readonly id: 'reviewer'; readonly name: string } | undefined;

/** One step of a confirmation, for logs. Everything that happens to a confirmation is one of these. */
export interface ConfirmationRecord {
  /** `asked`, how it has ended, or an answer that did not fit (`mismatch`) or was not allowed (`refused`). */
  readonly event: 'asked' | 'mismatch' | 'refused' | ConfirmationOutcome;
  readonly confirmationId: string;
  readonly mode: ConfirmationMode;
  /** Who asked for the command. */
  readonly requester: Principal;
  /** Who has made this step: the requester for `asked`; undefined when time or the daemon has. */
  readonly by: Decider;
  /** What was given as the reason of the step; empty for none. */
  readonly justification: string;
  /** What was asked for; undefined for typed text, which may be the answer to a question for a password. */
  readonly command: string | undefined;
  /** Undefined likewise: a password could be found by it. */
  readonly commandSha256: string | undefined;
  /** Characters of typed text; undefined for a command. */
  readonly typedCharacters: number | undefined;
  readonly commandId: string;
  readonly sessionId: string | null;
  readonly class: CommandClass;
  readonly reasons: readonly string[];
}

/** Takes every step of every confirmation, as it happens. Returns at once and never throws. */
export type ConfirmationObserver = (record: ConfirmationRecord) => void;
