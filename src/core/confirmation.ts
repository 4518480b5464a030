import type { PolicyRequest } from './policy/analysis/inspect.js';
import type { PolicyVerdict } from './policy/policy.js';
import type { CommandClass } from './policy/model.js';
import type { Principal } from './principal.js';

/** Input of `command_sha256`, as UTF-8: the text, followed by any arguments, each after a NUL. */
export const boundText = ({ command, args = [] }: Pick<PolicyRequest, 'command' | 'args'>): string =>
  [command, ...args].join('\0');

/**
 * Whether an approval of one verdict covers another: the new verdict must contain nothing that the approver has not
 * seen. Names of a session may have changed their meaning in between.
 */
export function isCovered(approved: ShownVerdict, now: ShownVerdict & Pick<PolicyVerdict, 'action'>): boolean {
  if (now.action === 'allow' || now.action === 'deny') return now.action === 'allow';
  const shown = new Set(reasonsOf(approved));
  return reasonsOf(now).every((reason) => shown.has(reason));
}

type ShownVerdict = Pick<PolicyVerdict, 'reasons' | 'commands'>;

/** Includes the reasons of each command, since the verdict's own list is bounded. */
const reasonsOf = ({ reasons, commands }: ShownVerdict): readonly string[] => [
  ...reasons,
  ...commands.flatMap((command) => command.reasons),
];

/**
 * Classes of commands that get a checkpoint before they run: those that destroy data, and those with unknown effects.
 */
const MAY_DESTROY: readonly CommandClass[] = ['destructive', 'obfuscated'];

/** Whether to save the workspace before such a command. */
export const mayDestroy = ({ commands, ...whole }: PolicyVerdict): boolean =>
  MAY_DESTROY.some((name) => {
    return whole.class === name || whole.causes.includes(name) || commands.some((command) => command.class === name);
  });

/**
 * Parties that confirm a command, from the mildest mode to the strictest: the client itself, a reviewing model, an
 * operator.
 */
export const CONFIRMATION_MODES = ['self', 'llm', 'operator'] as const;

export type ConfirmationMode = (typeof CONFIRMATION_MODES)[number];

export interface ConfirmationWays {
  /** Default for classes without an own mode, and for rules. */
  readonly mode: ConfirmationMode;
  readonly modes: Readonly<Partial<Record<CommandClass, ConfirmationMode>>>;
}

/** The confirmation mode of a command: the strictest among its classes and rules. */
export function wayOf({ causes }: PolicyVerdict, { mode, modes }: ConfirmationWays): ConfirmationMode {
  const asked = causes.map((cause) => (cause === 'rule' ? mode : (modes[cause] ?? mode)));
  return CONFIRMATION_MODES.findLast((candidate) => asked.includes(candidate)) ?? mode;
}

export const isAsStrict = (mode: ConfirmationMode, as: ConfirmationMode): boolean =>
  CONFIRMATION_MODES.indexOf(mode) >= CONFIRMATION_MODES.indexOf(as);

/** Values of the setting `confirmation.mode`: a mode, or `off` to let every command run. */
export const CONFIRMATION_SETTINGS = [...CONFIRMATION_MODES, 'off'] as const;

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
