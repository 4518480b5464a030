import type { CommandClass } from '../policy/model/classes.js';
import type { PolicyRequest } from '../policy/analysis/inspect.js';
import type { PolicyVerdict } from '../policy/decision/policy.js';

/** What `command_sha256` is the SHA-256 of, as UTF-8: the text, and with arguments these behind it, each after a NUL. */
export const boundText = ({ command, args = [] }: Pick<PolicyRequest, 'command' | 'args'>): string =>
  [command, ...args].join('\0');

/**
 * Whether an approval of the one verdict covers the other: it says nothing that whoever approved has not been told. Names of
 * a session may have been given another meaning in between.
 */
export function isCovered(approved: Told, now: Told & Pick<PolicyVerdict, 'action'>): boolean {
  if (now.action !== 'confirm') return now.action === 'allow';
  const told = new Set(reasonsOf(approved));
  return reasonsOf(now).every((reason) => told.has(reason));
}

type Told = Pick<PolicyVerdict, 'reasons' | 'commands'>;

/** Those of each command too: the verdict's own list is bounded. */
const reasonsOf = ({ reasons, commands }: Told): readonly string[] => [
  ...reasons,
  ...commands.flatMap((command) => command.reasons),
];

/** Classes of commands that a checkpoint is made before: those that destroy, and those that may for all one can tell. */
const MAY_DESTROY: readonly CommandClass[] = ['destructive', 'obfuscated'];

/** Whether the workspace is worth saving before such a command. */
export const mayDestroy = ({ commands, ...whole }: Pick<PolicyVerdict, 'class' | 'commands' | 'causes'>): boolean =>
  MAY_DESTROY.some((name) => {
    return whole.class === name || whole.causes.includes(name) || commands.some((command) => command.class === name);
  });
