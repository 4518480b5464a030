import type { CommandClass } from '../policy/model/classes.js';
import type { PolicyVerdict } from '../policy/decision/policy.js';

/** Who confirms a command, from the mildest to the strictest: the client itself, a reviewing model, an operator. */
export const CONFIRMATION_MODES = ['self', 'llm', 'operator'] as const;

/** One of the modes. */
export type ConfirmationMode = (typeof CONFIRMATION_MODES)[number];

/** Who confirms what. */
export interface ConfirmationWays {
  /** For classes of which nothing else is said, and for rules. */
  readonly mode: ConfirmationMode;
  readonly modes: Readonly<Partial<Record<CommandClass, ConfirmationMode>>>;
}

/** Who has to confirm a command: the strictest of those whom its classes and rules ask for. */
export function wayOf({ causes }: Pick<PolicyVerdict, 'causes'>, { mode, modes }: ConfirmationWays): ConfirmationMode {
  const asked = causes.map((cause) => (cause === 'rule' ? mode : (modes[cause] ?? mode)));
  return CONFIRMATION_MODES.findLast((candidate) => asked.includes(candidate)) ?? mode;
}

/** Whether a mode is at least as strict as another. */
export const isAsStrict = (mode: ConfirmationMode, as: ConfirmationMode): boolean =>
  CONFIRMATION_MODES.indexOf(mode) >= CONFIRMATION_MODES.indexOf(as);
