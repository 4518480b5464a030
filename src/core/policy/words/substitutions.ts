import { type Command, parse } from 'unbash';

import { type KnownValue, toArguments, type VariableLookup } from './argument.js';
import type { NamesContext } from './program-knowledge.js';

/** Longest substitution whose command is looked at, in characters. */
const MAX_LENGTH = 256;

/** The output of a substitution, or a sample of it; undefined when it is unknown. */
export function outputOfSubstitution(
  text: string,
  names: NamesContext,
  lookup: VariableLookup,
): KnownValue | undefined {
  const value = printedBy(text, names) ?? echoedBy(text, names, lookup);
  return value === undefined ? undefined : { value, isSample: true };
}

/** A sample of the one plain word that some commands always print. */
function printedBy(text: string, { isOwnName, programs }: NamesContext): string | undefined {
  const [program = ''] = /^\w+/.exec(text.slice(2)) ?? [];
  return isOwnName(program) ? undefined : programs.printedBy(text);
}

/** The output of one command that follows from its words, such as `echo ~/x`. */
function echoedBy(text: string, { isOwnName, programs }: NamesContext, lookup: VariableLookup): string | undefined {
  const command = text.length > MAX_LENGTH ? undefined : commandOf(text);
  const name = command?.name;
  if (!name || name.parts || isOwnName(name.value) || !command.suffix.every(({ type }) => type === 'Word'))
    return undefined;
  const args = command.suffix.flatMap((word) => (word.type === 'Word' ? toArguments(word, lookup) : []));
  return programs.outputOf(name.value)?.({ args, stdin: undefined })?.replace(/\n+$/, '');
}

/** The command of a substitution, if it is a single one without assignments. */
function commandOf(text: string): Command | undefined {
  const [statement, ...others] = parse(text.replace(/^(?:\$\(|`)|[)`]$/g, '')).commands;
  const command = statement?.command;
  return command?.type === 'Command' && others.length === 0 && command.prefix.length === 0 ? command : undefined;
}
