import type { Argument, Command, Option } from 'commander';

import type { Context } from './console/context.js';
import type { Subcommand } from './console/subcommand.js';

/** The shell code that completes values of a kind. */
const completeBash = (values: Values): string => {
  if (values === 'file') return 'mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null';
  if (values === 'directory') return 'mapfile -t COMPREPLY < <(compgen -d -- "$cur"); compopt -o filenames 2>/dev/null';
  if (values === 'command') return 'mapfile -t COMPREPLY < <(compgen -c -- "$cur")';
  return values === 'none' ? ':' : `mapfile -t COMPREPLY < <(compgen -W ${quote(values.words.join(' '))} -- "$cur")`;
};

/** Renders the completion script for bash. It does not need bash-completion. */
function renderBash(levels: readonly Level[]): string {
  const operands = levels.map(({ path, flags, subcommands, operands: values }) => {
    const options = flags.flatMap(({ names }) => names).join(' ');
    const words = subcommands.map(({ name }) => name);
    const rest = words.length > 0 ? completeBash({ words }) : completeBash(values);
    return [
      `    ${quote(nameOf(path))})`,
      `      if [[ $cur == -* ]]; then ${completeBash({ words: [options] })}; else ${rest}; fi ;;`,
    ].join('\n');
  });
  return [
    '# Completion of shell-adapter for bash. To load it: source <(shell-adapter completion bash)',
    '_shell_adapter() {',
    "  local cur=${COMP_WORDS[COMP_CWORD]} path='' skip='' i word IFS=$' \\t\\n'",
    '  COMPREPLY=()',
    '  for ((i = 1; i < COMP_CWORD; i++)); do',
    '    word=${COMP_WORDS[i]}',
    "    if [[ -n $skip ]]; then skip=''; continue; fi",
    '    case "$path|$word" in',
    ...walkCases(levels),
    '    esac',
    '  done',
    '  case "$path|${COMP_WORDS[COMP_CWORD - 1]}" in',
    ...valueCases(levels, completeBash),
    '  esac',
    '  case $path in',
    ...operands,
    `    ${quote(OTHER_PROGRAM)}) ${completeBash('file')} ;;`,
    '  esac',
    '}',
    'complete -F _shell_adapter shell-adapter',
    '',
  ].join('\n');
}

/** Renders the completion script for fish. */
function renderFish(levels: readonly Level[]): string {
  const values = (of: Values): string => {
    if (of === 'file') return '-r -F';
    if (of === 'directory') return "-x -a '(__fish_complete_directories)'";
    if (of === 'command') return "-x -a '(__fish_complete_command)'";
    return of === 'none' ? '-x' : `-x -a ${quote(of.words.join(' '))}`;
  };
  const at = (path: string) => `-n ${quote(`__shell_adapter_at "${nameOf(path)}"`)}`;
  const lines = levels.flatMap(({ path, flags, subcommands, operands }) => [
    ...subcommands.map(
      ({ name, description }) => `complete -c shell-adapter ${at(path)} -a ${quote(name)} -d ${quote(description)}`,
    ),
    ...flags.map(({ names, description, values: of }) => {
      const forms = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
      return `complete -c shell-adapter ${at(path)} ${forms.join(' ')}${of ? ` ${values(of)}` : ''} -d ${quote(description)}`;
    }),
    ...(operands === 'none'
      ? []
      : [`complete -c shell-adapter ${at(path)} ${values(operands).replace(/^-[rx] /, '')}`]),
  ]);
  return [
    '# Completion of shell-adapter for fish: ~/.config/fish/completions/shell-adapter.fish',
    ...renderCondition(levels),
    'complete -c shell-adapter -f',
    ...lines,
    `complete -c shell-adapter ${at(OTHER_PROGRAM)} -F`,
    '',
  ].join('\n');
}

/** Renders the function that checks whether the words before the cursor lead to a command. */
function renderCondition(levels: readonly Level[]): string[] {
  const others = levels
    .filter(({ operands }) => operands === 'command')
    .map(({ path }) => quote(nameOf(path)))
    .join(' ');
  const cases = levels.flatMap(({ path, subcommands, flags }) => {
    const withValue = flags.flatMap(({ names, values: of }) => (of === undefined ? [] : names));
    return [
      ...subcommands
        .filter(({ name }) => name !== 'help')
        .map(
          ({ name }) =>
            `      case ${quote(`${nameOf(path)}|${name}`)}; set path ${quote(nameOf(`${path} ${name}`.trim()))}`,
        ),
      ...(withValue.length === 0
        ? []
        : [`      case ${withValue.map((name) => quote(`${nameOf(path)}|${name}`)).join(' ')}; set skip 1`]),
    ].map((line) => line.replace('; set', '\n        set'));
  });
  return [
    'function __shell_adapter_at',
    "  set -l path ''",
    "  set -l skip ''",
    '  for word in (commandline -opc)[2..-1]',
    '    if test -n "$skip"',
    "      set skip ''",
    '      continue',
    '    end',
    `    if contains -- "$path" ${others}; and not string match -q -- '-*' $word`,
    `      set path ${quote(OTHER_PROGRAM)}`,
    '      break',
    '    end',
    '    switch "$path|$word"',
    ...cases,
    '    end',
    '  end',
    '  test "$path" = "$argv[1]"',
    'end',
  ];
}

const completeZsh = (values: Values): string => {
  if (values === 'file') return '_files';
  if (values === 'directory') return '_files -/';
  if (values === 'command') return '_command_names';
  return values === 'none' ? ':' : `compadd -- ${values.words.map(quote).join(' ')}`;
};

/** `_describe` expects `name:description`. */
const described = (entries: readonly { readonly name: string; readonly description: string }[]) =>
  entries.map(({ name, description }) => quote(`${name}:${description.replaceAll(':', ';')}`)).join(' ');

/** Renders the completion script for zsh, which must be loaded after compinit. */
function renderZsh(levels: readonly Level[]): string {
  const operands = levels.map(({ path, flags, subcommands, operands: values }) => {
    const options = flags.flatMap(({ names, description }) => names.map((name) => ({ name, description })));
    const rest =
      subcommands.length > 0 ? `found=(${described(subcommands)}); _describe command found` : completeZsh(values);
    return [
      `    ${quote(nameOf(path))})`,
      `      if [[ $PREFIX == -* ]]; then found=(${described(options)}); _describe option found; else ${rest}; fi ;;`,
    ].join('\n');
  });
  return [
    '#compdef shell-adapter',
    '# Completion of shell-adapter for zsh. To load it, after compinit: source <(shell-adapter completion zsh)',
    '_shell_adapter() {',
    "  local path_='' skip='' word; local -i i; local -a found",
    '  for ((i = 2; i < CURRENT; i++)); do',
    '    word=$words[i]',
    "    if [[ -n $skip ]]; then skip=''; continue; fi",
    '    case "$path_|$word" in',
    ...walkCases(levels).map((line) => line.replace(/\) path=/, ') path_=')),
    '    esac',
    '  done',
    '  case "$path_|$words[CURRENT-1]" in',
    ...valueCases(levels, completeZsh),
    '  esac',
    '  case $path_ in',
    ...operands,
    `    ${quote(OTHER_PROGRAM)}) _files ;;`,
    '  esac',
    '}',
    // In a folder of $fpath this file is the body of a function of its name.
    'if [[ $funcstack[1] == _shell-adapter ]]; then _shell_adapter "$@"; else compdef _shell_adapter shell-adapter; fi',
    '',
  ].join('\n');
}

/**
 * Values after a command or an option: one of these words, a file, a directory, a command line of the shell, or
 * unknown.
 */
type Values = { readonly words: readonly string[] } | 'file' | 'directory' | 'command' | 'none';

interface Flag {
  readonly names: readonly string[];
  readonly description: string;
  /** Undefined for a flag without a value. */
  readonly values: Values | undefined;
}

/** A command by its words: '' for the program, `token create` for a nested one. */
interface Level {
  readonly path: string;
  readonly flags: readonly Flag[];
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly operands: Values;
}

/**
 * Lists the commands of a program, starting with itself, with their flags and values.
 * @param path the words of the command, without the name of the program
 */
function listLevels(command: Command, path = ''): Level[] {
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

const RENDERERS = { bash: renderBash, zsh: renderZsh, fish: renderFish } as const satisfies Record<
  string,
  (levels: readonly Level[]) => string
>;

/** Shells with a completion script. */
type CompletionShell = keyof typeof RENDERERS;

const COMPLETION_SHELLS = Object.keys(RENDERERS) as CompletionShell[];

/**
 * Renders the script for a shell, from the same command definitions that the program parses with.
 * @public `scripts/docs/completions.mjs` writes the files of the package
 */
export const renderCompletion = (program: Command, shell: CompletionShell): string =>
  RENDERERS[shell](listLevels(program));

/** Quotes a text with single quotes, in the same way for all three shells; quotes and backslashes are removed. */
const quote = (text: string): string => `'${text.replaceAll(/['\\]/g, '')}'`;

/** Converts a path to the form that the scripts compare. */
const nameOf = (path: string): string => path.replaceAll(' ', '_');

/** Path of the words that belong to another program: the operands of `exec` and `check`. */
const OTHER_PROGRAM = '-';

/**
 * Renders `case` lines that follow the words of the command line to the innermost command; `skip` marks an option whose
 * value is the next word.
 */
function walkCases(levels: readonly Level[]): string[] {
  return levels.flatMap(({ path, subcommands, flags, operands }) => {
    const prefix = nameOf(path);
    const withValue = flags.flatMap(({ names, values }) => (values === undefined ? [] : names));
    return [
      ...subcommands
        .filter(({ name }) => name !== 'help')
        .map(({ name }) => `      ${quote(`${prefix}|${name}`)}) path=${quote(nameOf(`${path} ${name}`.trim()))} ;;`),
      ...(withValue.length === 0
        ? []
        : [`      ${withValue.map((name) => quote(`${prefix}|${name}`)).join('|')}) skip=1 ;;`]),
      ...(operands === 'command' ? [`      ${quote(`${prefix}|`)}[!-]*) path=${quote(OTHER_PROGRAM)} ;;`] : []),
    ];
  });
}

/** Renders `case` lines for the value of the option before the cursor. */
const valueCases = (levels: readonly Level[], complete: (values: Values) => string): string[] =>
  levels.flatMap(({ path, flags }) =>
    flags.flatMap(({ names, values }) =>
      values === undefined
        ? []
        : [`    ${names.map((name) => quote(`${nameOf(path)}|${name}`)).join('|')}) ${complete(values)}; return ;;`],
    ),
  );

/**
 * Declares the subcommand that prints the completion script of a shell.
 * @param programOf creates the command line with all subcommands
 */
export const completionSubcommand = (programOf: (context: Context) => Command): Subcommand => ({
  summary: 'print the completion script for a shell',
  description: 'Prints the script by which a shell completes subcommands, options and their values.',
  arguments: [['<shell>', 'the shell', { choices: COMPLETION_SHELLS }]],
  examples: [
    'source <(shell-adapter completion bash)                  in ~/.bashrc',
    'source <(shell-adapter completion zsh)                   in ~/.zshrc, after compinit',
    'shell-adapter completion fish > ~/.config/fish/completions/shell-adapter.fish',
  ],
  run: (context, _options, shell: CompletionShell) => context.stdout.write(renderCompletion(programOf(context), shell)),
});
