import type { CommandClass } from '../policy/model/classes.js';
import type { ConfirmationMode } from './modes.js';

/** How long an approval may be remembered: until its session ends, for 60 minutes, or until it is revoked. */
export const REMEMBER_SCOPES = ['session', 'hour', 'always'] as const;

/** Scope of a remembered approval. */
export type RememberScope = (typeof REMEMBER_SCOPES)[number];

/** Duration of the scope `hour`, in milliseconds. */
export const HOUR_MS = 3_600_000;

/** What a remembered approval covers. Plain data, so that it can be stored. */
export interface Coverage {
  /**
   * Canonical form of the request, its place and the files that it names, as JSON. A command is covered only if its
   * form is equal.
   */
  readonly form: string;
  /** The covered command, for people. `DIRECTORY/*.EXTENSION` stands for any file of that kind there. */
  readonly pattern: string;
  /** Reasons that the approver has seen, in canonical form. */
  readonly reasons: readonly string[];
  /** Classes of the commands that needed the confirmation. */
  readonly classes: readonly CommandClass[];
}

/**
 * Whether an approval covers a command: the same form, and neither a reason nor a class that the approver has not seen.
 */
export const covers = (approved: Coverage, now: Coverage): boolean =>
  approved.form === now.form &&
  now.reasons.every((reason) => approved.reasons.includes(reason)) &&
  now.classes.every((name) => approved.classes.includes(name));

/** Part of a token that is remembered with an approval. */
interface ApprovalParty {
  readonly id: string;
  readonly name: string;
}

/** A remembered approval. */
export interface RememberedApproval extends Coverage {
  readonly id: string;
  readonly scope: RememberScope;
  /** Only commands of this principal are covered. */
  readonly requester: ApprovalParty;
  readonly approver: ApprovalParty;
  /** The mode in which it was given: it is not enough for a stricter one. */
  readonly mode: ConfirmationMode;
  /** Set for the scope `session`. */
  readonly sessionId: string | null;
  readonly directory: string;
  readonly rememberedAt: Date;
  /** Null when no time is set. */
  readonly expiresAt: Date | null;
}
