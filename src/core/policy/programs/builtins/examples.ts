import type { ProgramExamples } from '../../family/program-family.js';

/** Commands of this family, by class. */
export const EXAMPLES: ProgramExamples = {
  read: ['echo hello', 'print -l a b', 'unset -f f', 'trap ls INT', 'unalias a'],
  execute: ['alias a=b', 'r x'],
  interactive: ['exec zsh'],
  destructive: [
    "mapfile -C 'rm x' a",
    "complete -C 'rm x' ls",
    "compgen -C 'rm x'",
    "builtin eval 'rm x'",
    'command rm x',
    'noglob rm x',
    'repeat 3 rm x',
    'chdir / rm x',
  ],
  obfuscated: [
    'printf -v PATH %s /x',
    'export PATH=/x',
    'eval "$x"',
    'source x',
    'set -k',
    'bind -x \'"a": rm x\'',
    'hash ls=/bin/rm',
    'enable -f x y',
    'history -c',
    'fc -s',
    "emulate sh -c 'rm x'",
    'zmodload zsh/files',
  ],
};
