import { nameOf, OTHER_PROGRAM, quote } from './cases.js';
import type { Level, Values } from './levels.js';

/** Renders the completion script for fish. */
export function renderFish(levels: readonly Level[]): string {
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
