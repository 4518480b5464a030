import type { CommandClass } from '../model/classes.js';
import { PROGRAMS } from '../programs/programs.js';
import type { PolicyVerdict } from './policy.js';

/** Description of the effect of each class, for a person who cannot see the command. */
const EFFECTS: Readonly<Record<CommandClass, string>> = {
  read: 'only reads',
  write: 'writes in the workspace',
  execute: 'runs a program',
  network: 'communicates with other machines',
  interactive: 'takes typed input that the policy cannot judge',
  destructive: 'deletes or overwrites something, or ends processes',
  privilege: 'acts as another user, or changes the whole machine',
  persistence: 'changes what runs later, or system files',
  exfiltration: 'reads credentials, or sends data away',
  obfuscated: 'has an effect that is known only at run time',
};

/** Placeholder for a name that may be part of a password. */
const NAME_PLACEHOLDER = 'a program';

/**
 * The same verdict about typed text, without any part of the text, which may be the answer to a password prompt. The
 * classes and the names of known programs remain.
 */
export function withoutTypedText(verdict: PolicyVerdict): PolicyVerdict {
  const commands = verdict.commands.map((command) => {
    const name =
      command.program !== undefined && PROGRAMS.isKnown(command.program) ? command.program : NAME_PLACEHOLDER;
    const reasons = command.action === 'allow' ? [] : [`${name} ${EFFECTS[command.class]}`];
    return { ...command, text: name, program: name === NAME_PLACEHOLDER ? undefined : name, reasons };
  });
  const reasons = [...new Set(commands.flatMap((command) => command.reasons))];
  const known = { paths: [], scripts: [], repositories: [], losses: [] };
  return { ...verdict, ...known, commands, reasons: reasons.length > 0 ? reasons : [`it ${EFFECTS[verdict.class]}`] };
}
