import type { CommandClass } from '../policy/model/classes.js';
import type { PolicyRequest } from '../policy/analysis/inspection.js';
import type { PolicyVerdict } from '../policy/decision/policy.js';

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
export const mayDestroy = ({ commands, ...whole }: Pick<PolicyVerdict, 'class' | 'commands' | 'causes'>): boolean =>
  MAY_DESTROY.some((name) => {
    return whole.class === name || whole.causes.includes(name) || commands.some((command) => command.class === name);
  });
