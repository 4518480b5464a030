import { Command, InvalidArgumentError } from 'commander';

import { findNearest } from '../../config/read/nearest.js';
import type { Context } from '../console/context.js';

/** Makes one subcommand. What it needs beyond commander it loads when it is run: most calls need little of it. */
export type Subcommand = (context: Context) => Command;

/**
 * A command that prints through the context and leaves exiting to `main.ts`.
 * @param words how it is called: `exec`, `token create`
 */
export function createCommand(context: Context, words: string): Command {
  const command = new Command(words.split(' ').at(-1));
  return command
    .exitOverride()
    .showSuggestionAfterError(false)
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      writeErr: (text) => void context.stderr.write(text),
      outputError: (text, write) => {
        write(text.replace(/^error: (?:command-argument )?/, 'shell-adapter: ') + suggestionFor(text, command));
      },
      getOutHelpWidth: () => context.stdout.size?.columns ?? HELP_COLUMNS,
      getErrHelpWidth: () => context.stderr.size?.columns ?? HELP_COLUMNS,
    })
    .showHelpAfterError(`(${context.programName} ${words} --help explains it)`)
    .helpOption('-h, --help', 'explain this command');
}

/** The line that suggests what was meant by an unknown option or command; empty if nothing is close. */
function suggestionFor(message: string, command: Command): string {
  const [, kind, written = ''] = /^error: unknown (option|command) '([^']+)'/.exec(message) ?? [];
  if (kind === undefined) return '';
  const nearest = findNearest(written, kind === 'option' ? longOptions(command) : commandNames(command));
  return nearest === undefined ? '' : `Did you mean ${nearest}?\n`;
}

const longOptions = (command: Command): string[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long }) => long ?? []);

const commandNames = (command: Command): string[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((subcommand) => subcommand.name());

/** A command that has only subcommands of its own. */
export const createGroup = (context: Context, name: string): Command =>
  createCommand(context, name).helpCommand('help [command]', 'explain a command');

/** Width of help texts that go to no terminal, in characters. */
const HELP_COLUMNS = 110;

/** The end of a help text: lines to try. */
export const examples = (...lines: readonly string[]): string =>
  ['', 'Examples:', ...lines.map((line) => `  ${line}`)].join('\n');

/** Reads a number of a flag, for commander. */
export function readNumber(range: { readonly min: number; readonly max: number; readonly isWhole: boolean }) {
  return (text: string): number => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
    const isRight = value >= range.min && value <= range.max && (!range.isWhole || Number.isInteger(value));
    if (isRight) return value;
    throw new InvalidArgumentError(
      `It must be a ${range.isWhole ? 'whole ' : ''}number from ${range.min} to ${range.max}.`,
    );
  };
}
