import { nameOf, OTHER_PROGRAM, quote, valueCases, walkCases } from './cases.js';
import type { Level, Values } from './levels.js';

/** The shell code that completes values of a kind. */
const complete = (values: Values): string => {
  if (values === 'file') return 'mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null';
  if (values === 'directory') return 'mapfile -t COMPREPLY < <(compgen -d -- "$cur"); compopt -o filenames 2>/dev/null';
  if (values === 'command') return 'mapfile -t COMPREPLY < <(compgen -c -- "$cur")';
  return values === 'none' ? ':' : `mapfile -t COMPREPLY < <(compgen -W ${quote(values.words.join(' '))} -- "$cur")`;
};

/** Renders the completion script for bash. It does not need bash-completion. */
export function renderBash(levels: readonly Level[]): string {
  const operands = levels.map(({ path, flags, subcommands, operands: values }) => {
    const options = flags.flatMap(({ names }) => names).join(' ');
    const words = subcommands.map(({ name }) => name);
    const rest = words.length > 0 ? complete({ words }) : complete(values);
    return [
      `    ${quote(nameOf(path))})`,
      `      if [[ $cur == -* ]]; then ${complete({ words: [options] })}; else ${rest}; fi ;;`,
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
    ...valueCases(levels, complete),
    '  esac',
    '  case $path in',
    ...operands,
    `    ${quote(OTHER_PROGRAM)}) ${complete('file')} ;;`,
    '  esac',
    '}',
    'complete -F _shell_adapter shell-adapter',
    '',
  ].join('\n');
}
