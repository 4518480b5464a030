import { Command, InvalidArgumentError, Option } from 'commander';

import { SANDBOX_PROFILES } from '../../core/sandbox-profiles.js';
import { findNearest } from '../../core/nearest.js';
import type { Context } from './context.js';

/** Creates a subcommand. Modules other than commander are loaded when it runs: most calls need few of them. */
export type Subcommand = (context: Context) => Command;

/**
 * Creates a command that prints through the context and leaves exiting to `main.ts`.
 * @param words the name on the command line: `exec`, `token create`
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

/** Returns a line that suggests the intended option or command; empty if none is close. */
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

/** Creates a command that has only subcommands. */
export const createGroup = (context: Context, name: string): Command =>
  createCommand(context, name).helpCommand('help [command]', 'explain a command');

/** Width of help texts without a terminal, in characters. */
const HELP_COLUMNS = 110;

/** Formats the examples at the end of a help text. */
export const examples = (...lines: readonly string[]): string =>
  ['', 'Examples:', ...lines.map((line) => `  ${line}`)].join('\n');

/** Parses a numeric option, for commander. */
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

type Variables = Readonly<Record<string, string>>;

/** Parses a repeatable `--env NAME=VALUE` for commander; `NAME` alone uses the value of the current environment. */
export const readVariable =
  ({ env }: Context) =>
  (text: string, previous: Variables = {}): Variables => {
    const equals = text.indexOf('=');
    const name = equals === -1 ? text : text.slice(0, equals);
    const value = equals === -1 ? env[name] : text.slice(equals + 1);
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw new InvalidArgumentError(
        'It must be NAME=VALUE; names are letters, digits and _, not starting with a digit.',
      );
    }
    if (value === undefined) throw new InvalidArgumentError(`${name} is not set here: give it as ${name}=VALUE.`);
    return { ...previous, [name]: value };
  };

/** `--sandbox`, for subcommands that start processes. */
export const sandboxOption = (): Option =>
  new Option('--sandbox <profile>', 'a stricter sandbox than the configured one').choices(SANDBOX_PROFILES);
