import { nameOf, OTHER_PROGRAM, quote, valueCases, walkCases } from './cases.js';
import type { Level, Values } from './levels.js';

/** The shell code that completes values of a kind. */
const complete = (values: Values): string => {
  if (values === 'file') return '_files';
  if (values === 'directory') return '_files -/';
  if (values === 'command') return '_command_names';
  return values === 'none' ? ':' : `compadd -- ${values.words.map(quote).join(' ')}`;
};

/** `_describe` expects `name:description`. */
const described = (entries: readonly { readonly name: string; readonly description: string }[]) =>
  entries.map(({ name, description }) => quote(`${name}:${description.replaceAll(':', ';')}`)).join(' ');

/** Renders the completion script for zsh, which must be loaded after compinit. */
export function renderZsh(levels: readonly Level[]): string {
  const operands = levels.map(({ path, flags, subcommands, operands: values }) => {
    const options = flags.flatMap(({ names, description }) => names.map((name) => ({ name, description })));
    const rest =
      subcommands.length > 0 ? `found=(${described(subcommands)}); _describe command found` : complete(values);
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
    ...valueCases(levels, complete),
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
