import type { CommandClass } from '../policy/model/classes.js';
import type { PolicyVerdict } from '../policy/decision/policy.js';

/**
 * Parties that confirm a command, from the mildest mode to the strictest: the client itself, a reviewing model, an
 * operator.
 */
export const CONFIRMATION_MODES = ['self', 'llm', 'operator'] as const;

/** Mode of confirmation. */
export type ConfirmationMode = (typeof CONFIRMATION_MODES)[number];

/** Modes of confirmation by cause. */
export interface ConfirmationWays {
  /** Default for classes without an own mode, and for rules. */
  readonly mode: ConfirmationMode;
  readonly modes: Readonly<Partial<Record<CommandClass, ConfirmationMode>>>;
}

/** The confirmation mode of a command: the strictest among its classes and rules. */
export function wayOf({ causes }: Pick<PolicyVerdict, 'causes'>, { mode, modes }: ConfirmationWays): ConfirmationMode {
  const asked = causes.map((cause) => (cause === 'rule' ? mode : (modes[cause] ?? mode)));
  return CONFIRMATION_MODES.findLast((candidate) => asked.includes(candidate)) ?? mode;
}

/** Whether a mode is at least as strict as another. */
export const isAsStrict = (mode: ConfirmationMode, as: ConfirmationMode): boolean =>
  CONFIRMATION_MODES.indexOf(mode) >= CONFIRMATION_MODES.indexOf(as);

/** Values of the setting `confirmation.mode`: a mode, or `off` to let every command run. */
export const CONFIRMATION_SETTINGS = [...CONFIRMATION_MODES, 'off'] as const;
