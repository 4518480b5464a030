import type { Argument, Command, Option } from 'commander';

/**
 * Values after a command or an option: one of these words, a file, a directory, a command line of the shell, or
 * unknown.
 */
export type Values = { readonly words: readonly string[] } | 'file' | 'directory' | 'command' | 'none';

/** A flag of a command. */
interface Flag {
  readonly names: readonly string[];
  readonly description: string;
  /** Undefined for a flag without a value. */
  readonly values: Values | undefined;
}

/** A command by its words: '' for the program, `token create` for a nested one. */
export interface Level {
  readonly path: string;
  readonly flags: readonly Flag[];
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly operands: Values;
}

/**
 * Lists the commands of a program, starting with itself, with their flags and values.
 * @param path the words of the command, without the name of the program
 */
export function listLevels(command: Command, path = ''): Level[] {
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command);
  const [operand] = command.registeredArguments;
  const level: Level = {
    path,
    flags: help.visibleOptions(command).map(flagOf),
    subcommands: subcommands.map((each) => ({ name: each.name(), description: help.subcommandDescription(each) })),
    operands: operand ? valuesOf(operand.argChoices, operand.name()) : 'none',
  };
  const nested = subcommands.filter((each) => each.name() !== 'help');
  return [level, ...nested.flatMap((each) => listLevels(each, `${path} ${each.name()}`.trim()))];
}

const flagOf = ({ short, long, description, argChoices, required, optional, flags }: Option): Flag => ({
  names: [short, long].flatMap((name) => name ?? []),
  description,
  values: required || optional ? valuesOf(argChoices, /<([^>]+)>/.exec(flags)?.[1] ?? '') : undefined,
});

function valuesOf(choices: Argument['argChoices'], placeholder: string): Values {
  if (choices && choices.length > 0) return { words: choices };
  if (/^(?:file|directory|command)$/.test(placeholder)) return placeholder as 'file' | 'directory' | 'command';
  return 'none';
}
