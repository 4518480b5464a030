import { resolve } from 'node:path';

import { Argument, Command, InvalidArgumentError, Option } from 'commander';

import { findNearest } from '../../core/nearest.js';
import { SANDBOX_PROFILES } from '../../core/sandbox-profiles.js';
import type { Context, Output } from './context.js';

/** Converts the text of an option or argument. @throws InvalidArgumentError */
type Read = (text: string, previous: unknown, context: Context) => unknown;

/** How the value of an option or argument is read. */
interface Reading<Field extends string> {
  readonly choices?: readonly string[];
  readonly read?: Read;
  readonly default?: unknown;
  readonly isRequired?: boolean;
  readonly isHidden?: boolean;
  /** Name of an option that it excludes. */
  readonly conflicts?: string;
  /** The field of the request that has the value. */
  readonly field?: Field;
}

/** An option by its flags, or an argument by its name, with its help. */
export type Entry<Field extends string = never> = readonly [flags: string, help?: string, how?: Reading<Field>];

/** What help, completions, the manual page and the reference say of a subcommand. */
export interface Description<Field extends string = string> {
  readonly summary: string;
  readonly description: string;
  readonly arguments?: readonly Entry<Field>[];
  readonly options?: readonly Entry<Field>[];
  /** Whether options after the first argument belong to another program. */
  readonly passesOptions?: boolean;
  /** Paragraphs before the examples. */
  readonly before?: string;
  readonly examples?: readonly string[];
  /** Paragraphs after the examples. */
  readonly notes?: string;
  readonly exitCodes?: string;
}

/** What a subcommand does. Each takes the types of its own options and arguments, so that it is compared as a method is. */
type Run = { run(context: Context, options: object, ...args: readonly unknown[]): Promise<void> }['run'];

/** A subcommand, or a group of them. Modules other than commander are loaded when it runs: most calls need few of them. */
export interface Subcommand extends Description {
  readonly run?: Run;
  /** Loads what it does, for what needs many modules. */
  readonly load?: () => Promise<Run>;
  readonly subcommands?: Readonly<Record<string, Subcommand>>;
}

/** What is printed: lines, a text without its last line end, or bytes as they are. */
export type Text = string | readonly string[] | Uint8Array;

export interface JsonOption {
  readonly json?: boolean;
}

/** Prints an answer as JSON, or as text. */
export async function printAnswer<A>(
  { stdout }: Context,
  { json = false }: JsonOption,
  answer: A,
  render: (answer: A, output: Output) => Text,
): Promise<void> {
  if (json) {
    await stdout.write(jsonText(answer));
    return;
  }
  const text = render(answer, stdout);
  if (text instanceof Uint8Array) await stdout.write(text);
  else if (typeof text === 'string') await stdout.write(`${text}\n`);
  else await stdout.write(text.map((line) => `${line}\n`).join(''));
}

/** An answer as `--json` prints it. */
export const jsonText = (answer: unknown): string => `${JSON.stringify(answer, null, 2)}\n`;

/**
 * Creates the command of an entry.
 * @param words its name on the command line: `exec`, `token create`
 */
function createCommand(context: Context, words: string, entry: Subcommand): Command {
  const { summary, description, run, load, subcommands } = entry;
  const command = createBare(context, words).summary(summary).description(description);
  command.addHelpText('after', helpAfter(entry));
  if (subcommands) {
    addHelpCommand(command).enablePositionalOptions();
    for (const [name, child] of Object.entries(subcommands)) {
      command.addCommand(createCommand(context, `${words} ${name}`, child));
    }
    return command;
  }
  for (const argument of entry.arguments ?? []) command.addArgument(argumentOf(argument, context));
  for (const option of entry.options ?? []) command.addOption(optionOf(option, context));
  if (entry.passesOptions === true) command.passThroughOptions();
  return command.action(async () => {
    const act = run ?? (await load?.());
    await act?.(context, command.opts(), ...(command.processedArgs as unknown[]));
  });
}

/** Creates the command line with these subcommands; nothing runs before it parses arguments. */
export function createProgram(context: Context, subcommands: Readonly<Record<string, Subcommand>>): Command {
  const program = addHelpCommand(createBare(context, 'shell-adapter'))
    .description('Runs shell commands for programs: persistent sessions, exact output, nothing left behind.')
    .showHelpAfterError(`(${context.programName} --help lists the commands)`)
    .enablePositionalOptions()
    .addHelpText('after', helpAfter({ examples: EXAMPLES, notes: NOTES }));
  for (const [name, entry] of Object.entries(subcommands)) program.addCommand(createCommand(context, name, entry));
  return program;
}

const EXAMPLES = [
  'shell-adapter serve                      start the daemon, in the foreground',
  "shell-adapter exec 'make test 2>&1'      run a command through it",
  'shell-adapter doctor                     see what this machine can do',
];

const NOTES = `\
The daemon is found by --url, the variable SHELL_ADAPTER_URL, or the configuration file: --config,
SHELL_ADAPTER_CONFIG, ~/.config/shell-adapter/config.yaml, or config/shell_adapter.yaml below the current
directory if it is trusted (config trust).
A token, where one is needed, is given by --token or better by SHELL_ADAPTER_TOKEN, which other users do not see.

Exit codes: 0 done, 1 failed, 2 wrong usage. \`exec\` and \`check\` have others, see their help.`;

/** Creates a command that prints through the context and leaves exiting to `main.ts`. */
function createBare(context: Context, words: string): Command {
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

/** Width of help texts without a terminal, in characters. */
const HELP_COLUMNS = 110;

const addHelpCommand = (group: Command): Command => group.helpCommand('help [command]', 'explain a command');

/** Returns a line that suggests the intended option or command; empty if none is close. */
function suggestionFor(message: string, command: Command): string {
  const [, kind, written = ''] = /^error: unknown (option|command) '([^']+)'/.exec(message) ?? [];
  if (kind === undefined) return '';
  const help = command.createHelp();
  const names =
    kind === 'option'
      ? help.visibleOptions(command).flatMap(({ long }) => long ?? [])
      : help.visibleCommands(command).map((subcommand) => subcommand.name());
  const nearest = findNearest(written, names);
  return nearest === undefined ? '' : `Did you mean ${nearest}?\n`;
}

function helpAfter({ before, examples, notes, exitCodes }: Partial<Description>): string {
  const paragraphs = [
    before,
    examples && ['Examples:', ...examples.map((line) => `  ${line}`)].join('\n'),
    notes,
    exitCodes === undefined ? undefined : `Exit codes: ${exitCodes}`,
  ];
  const text = paragraphs.filter((paragraph) => paragraph !== undefined).join('\n\n');
  return text === '' ? '' : `\n${text}`;
}

function argumentOf([name, help = '', how = {}]: Entry<string>, context: Context): Argument {
  const argument = new Argument(name, help).default(how.default);
  if (how.choices) argument.choices(how.choices);
  const { read } = how;
  return read ? argument.argParser((text, previous) => read(text, previous, context)) : argument;
}

function optionOf([flags, help, how = {}]: Entry<string>, context: Context): Option {
  const option = new Option(flags, help)
    .default(how.default)
    .makeOptionMandatory(how.isRequired === true)
    .hideHelp(how.isHidden === true);
  if (how.choices) option.choices(how.choices);
  if (how.conflicts !== undefined) option.conflicts(how.conflicts);
  const { read } = how;
  return read ? option.argParser((text, previous) => read(text, previous, context)) : option;
}

export const JSON_OPTION: Entry = ['--json', 'print JSON'];

/** `--sandbox`, for subcommands that start processes. */
export const SANDBOX_OPTION: Entry<'sandbox'> = [
  '--sandbox <profile>',
  'a stricter sandbox than the configured one',
  { choices: SANDBOX_PROFILES, field: 'sandbox' },
];

/** `--env`, which may be repeated; `NAME` alone uses the value of the current environment. */
export const ENV_OPTION: Entry<'env'> = [
  '--env <name=value>',
  'a variable for it; may be repeated; without a value, the one from here',
  { read: (text, previous, { env }) => readVariable(text, previous as Variables | undefined, env), field: 'env' },
];

type Variables = Readonly<Record<string, string>>;

function readVariable(text: string, previous: Variables | undefined, env: NodeJS.ProcessEnv): Variables {
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
}

export function number(min: number, max: number, isWhole = false): Read {
  return (text) => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
    const isRight = value >= min && value <= max && (!isWhole || Number.isInteger(value));
    if (isRight) return value;
    throw new InvalidArgumentError(`It must be a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}.`);
  };
}

export const wholeNumber = (min: number, max: number = Number.MAX_SAFE_INTEGER): Read => number(min, max, true);

/** Reads a time in seconds, between bounds in milliseconds; gives milliseconds. */
export function seconds(minMs: number, maxMs: number): Read {
  const read = number(minMs / 1000, Math.floor(maxMs / 1000));
  return (text, previous, context) => Math.round(Number(read(text, previous, context)) * 1000);
}

/** Reads a path, which is relative to the current directory of this program. */
export const path: Read = (text, _previous, { cwd }) => resolve(cwd, text);
