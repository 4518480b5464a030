import { describe, expect, it } from 'vitest';

import { outcomeOf, verdictOn } from './support.js';

const named = (aliases: Readonly<Record<string, string>>, functions: Readonly<Record<string, string>> = {}) => ({
  aliases: new Map(Object.entries(aliases)),
  functions: new Map(Object.entries(functions)),
});

describe('an alias of the session', () => {
  it.each([
    ['ls x', { ls: 'rm' }, 'confirm destructive'],
    ['ls x', { ls: 'ls --color' }, 'allow read'],
    ['ll', { ll: 'ls -l; rm x' }, 'confirm destructive'],
    ['a', { a: 'b', b: 'rm x' }, 'confirm destructive'],
    ['a', { a: 'a -x' }, 'allow execute'],
    ['a -rf /', { a: 'rm' }, 'deny destructive'],
    ['sudo a', { sudo: 'sudo ', a: 'rm x' }, 'confirm obfuscated'],
    ["'ls' x", { ls: 'rm' }, 'allow read'],
    [String.raw`\ls x`, { ls: 'rm' }, 'allow read'],
    ['/bin/ls x', { ls: 'rm' }, 'allow read'],
    ['echo ls', { ls: 'rm x' }, 'allow read'],
    ['echo x', { if: 'rm x; if' }, 'confirm obfuscated'],
    ['a', { a: '"' }, 'confirm obfuscated'],
  ])('%j with %j is: %s', (command, aliases, outcome) => {
    expect(outcomeOf(command, named(aliases))).toBe(outcome);
  });

  it('does not stand for a program that is run without a shell', () => {
    expect(outcomeOf({ command: 'ls', args: ['x'] }, named({ ls: 'rm' }))).toBe('allow read');
  });
});

describe('a function of the session', () => {
  it.each([
    ['f', { f: '{ rm x; }' }, 'confirm destructive'],
    ['f', { f: '{ ls; }' }, 'allow execute'],
    ['ls', { ls: '{ rm -rf /; }' }, 'deny destructive'],
    ['"ls"', { ls: '{ rm x; }' }, 'confirm destructive'],
    ['f', { f: '{ g; }', g: '{ rm x; }' }, 'confirm destructive'],
    ['f', { f: '{ f; }' }, 'allow execute'],
    ['f', { f: '{ broken' }, 'confirm obfuscated'],
    ['rm x', { rm: '{ ls; }' }, 'confirm destructive'],
    ['echo $(f)', { f: '{ rm x; }' }, 'confirm destructive'],
    ['f you', { f: '{ echo "hello $1"; }' }, 'allow execute'],
    ['f you', { f: '{ echo "$1 there"; }' }, 'allow execute'],
    ['f "rm -rf build"', { f: '{ eval "$1"; }' }, 'confirm obfuscated'],
    ['f rm -rf build', { f: '{ "$@"; }' }, 'confirm obfuscated'],
  ])('%j with %j is: %s', (command, functions, outcome) => {
    expect(outcomeOf(command, named({}, functions))).toBe(outcome);
  });
});

describe('a bare name', () => {
  it.each([
    ['with a changed PATH may be any program', 'ls', { isPathChanged: true }, 'allow execute'],
    ['of a builtin is the shell’s own, whatever PATH is', 'echo x', { isPathChanged: true }, 'allow read'],
    ['with a path stays what it is', '/bin/ls', { isPathChanged: true }, 'allow read'],
    ['may be anything when names are not known', 'echo x', { areNamesUnknown: true }, 'allow execute'],
    ['is never milder for it', 'rm x', { areNamesUnknown: true }, 'confirm destructive'],
  ])('%s', (_what, command, given, outcome) => {
    expect(outcomeOf(command, given)).toBe(outcome);
  });
});

describe('the directory', () => {
  it.each([
    ['is where relative paths are', 'touch x', { directories: ['/etc'] }, 'confirm persistence'],
    ['outside of the workspace makes a question', 'touch x', { directories: ['/srv'] }, 'confirm destructive'],
    ['that is not known makes one too', 'touch x', { directories: [undefined] }, 'confirm obfuscated'],
    [
      'that is not known does not matter to absolute paths',
      'touch /work/space/x',
      { directories: [undefined] },
      'allow write',
    ],
    ['in a scratch place is fine', 'touch x', { directories: ['/tmp/a'] }, 'allow write'],
    ['decides over what is deleted', 'rm -rf *', { directories: ['/'] }, 'deny destructive'],
  ])('%s', (_what, command, given, outcome) => {
    expect(outcomeOf(command, given)).toBe(outcome);
  });

  it.each([
    ['cd sub && touch x', 'allow write'],
    ['cd sub && touch ../x', 'allow write'],
    ['cd .. && touch x', 'confirm destructive'],
    ['cd /etc; touch x', 'confirm persistence'],
    ['(cd /etc); touch x', 'allow write'],
    ['cd /etc | touch x', 'allow write'],
    ['cd /etc & touch x', 'allow write'],
    ['if cd /etc; then touch x; fi', 'confirm persistence'],
    ['{ cd /etc; }; touch x', 'confirm persistence'],
    ['cd /etc && cd - && touch x', 'confirm obfuscated'],
    ['cd "$d" && touch x', 'confirm obfuscated'],
    ['cd && touch x', 'confirm destructive'],
    ['command cd /etc; touch x', 'confirm persistence'],
    ['builtin cd /etc; touch x', 'confirm persistence'],
    ['pushd /etc; touch x', 'confirm persistence'],
    ['cd /tmp && mkdir x && cd x && echo y > z', 'allow write'],
  ])('follows %j: %s', (command, outcome) => {
    expect(outcomeOf(command)).toBe(outcome);
  });
});

describe('what is given with a command', () => {
  it.each([
    ['a program with arguments is not parsed', { command: 'echo', args: ['$(rm x)', ';', 'rm'] }, 'allow read'],
    ['a program with arguments is judged', { command: 'rm', args: ['x'] }, 'confirm destructive'],
    ['arguments for a shell are text', { command: 'sh', args: ['-c', 'rm x'] }, 'confirm destructive'],
    ['arguments may have control characters, which is said', { command: 'echo', args: ['a\rb'] }, 'confirm obfuscated'],
    ['a variable can change what runs', { command: 'ls', env: { LD_PRELOAD: 'x' } }, 'confirm obfuscated'],
    ['a harmless variable changes nothing', { command: 'ls', env: { LANG: 'C' } }, 'allow read'],
    ['another HOME makes ~ unknown', { command: 'echo x > ~/y', env: { HOME: '/etc' } }, 'confirm obfuscated'],
    ['input for a shell is text', { command: 'bash', stdin: 'rm x' }, 'confirm destructive'],
    ['input for an interpreter is its program', { command: 'python3', stdin: 'x' }, 'allow execute'],
    ['input for a filter is data', { command: 'sort', stdin: 'rm x' }, 'allow read'],
    ['input reaches what is in a group', { command: '{ cat; bash; }', stdin: 'rm x' }, 'confirm destructive'],
  ])('%s', (_what, request, outcome) => {
    expect(outcomeOf(request)).toBe(outcome);
  });
});

describe('a verdict', () => {
  it('lists every command, at any depth, with what is thought of it', () => {
    const { action, class: commandClass, commands } = verdictOn('git status && sudo sh -c "rm x | wc"');
    expect({ action, commandClass }).toEqual({ action: 'confirm', commandClass: 'privilege' });
    expect(commands.map((command) => [command.text, command.program, command.class])).toEqual([
      ['git status', 'git', 'read'],
      ['sudo sh -c "rm x | wc"', 'sudo', 'privilege'],
      ['sh -c "rm x | wc"', 'sh', 'read'],
      ['rm x', 'rm', 'destructive'],
      ['wc', 'wc', 'read'],
    ]);
  });

  it.each([
    ['ls', false],
    ['cd x', false],
    ['echo $x', false],
    ['alias a=b', true],
    ['unalias a', true],
    ['f() { :; }', true],
    ['unset -f f', true],
    ['source x', true],
    ['PATH=/x', true],
    ['PATH=/x ls', false],
    ['export PATH=/x', true],
    ['$x', true],
    ['eval "$x"', true],
    ['eval "alias a=b"', true],
    ['trap ls INT', true],
    ['shopt -u expand_aliases', true],
  ])('tells whether names may mean something else after %j: %s', (command, expected) => {
    expect(verdictOn(command).changesNames).toBe(expected);
  });
});

describe('zsh', () => {
  it.each([
    ['echo *(e:rm x:)', 'confirm obfuscated'],
    ['echo ${(e)x}', 'confirm obfuscated'],
    ['for x (a b) rm $x', 'confirm obfuscated'],
    ['rm x &!', 'confirm destructive'],
    ['echo =(rm x)', 'confirm obfuscated'],
    ['ls **/*.ts', 'allow read'],
  ])('%j is: %s', (command, outcome) => {
    expect(outcomeOf(command, { shell: 'zsh' })).toBe(outcome);
  });
});

describe('variables of a text', () => {
  it.each([
    ['that are assigned once are known', 'd=build; mkdir "$d"; touch $d/x', 'allow write'],
    ['that lead outside are followed', 'd=/etc; touch $d/x', 'confirm persistence'],
    ['that are assigned twice are not known', 'd=build; d=/etc; touch $d/x', 'confirm obfuscated'],
    ['that are read are not known', 'd=build; read d; touch $d/x', 'confirm obfuscated'],
    ['of a branch are not known', 'if x; then d=build; fi; touch $d/x', 'confirm obfuscated'],
    ['of a subshell are not known', '(d=build); touch $d/x', 'confirm obfuscated'],
    ['behind && are not known', 'ls && d=build; touch $d/x', 'confirm obfuscated'],
    ['are not known before they are assigned', 'touch $d/x; d=build', 'confirm obfuscated'],
    ['that arithmetic may change are not known', 'd=build; ((d=1)); touch $d/x', 'confirm obfuscated'],
    ['that a function may change are not known', 'd=build; f() { d=/etc; }; f; touch $d/x', 'confirm obfuscated'],
    ['are not known after eval', 'd=build; eval "$x"; touch $d/x', 'confirm obfuscated'],
    ['with blanks are several words', 'd="a /etc/b"; touch $d', 'confirm obfuscated'],
    ['with blanks in quotes are one word', 'd="a b"; touch "$d"', 'allow write'],
    ['of a loop over plain words are files there', 'for f in a b; do touch "$f"; done', 'allow write'],
    ['of a loop over paths are not known', 'for f in a /etc/b; do touch "$f"; done', 'confirm obfuscated'],
    ['of a loop are not known behind it', 'for f in a b; do :; done; touch "$f"', 'confirm obfuscated'],
    ['of a loop are no programs', 'for f in ls rm; do $f x; done', 'confirm obfuscated'],
    ['from mktemp are in /tmp', 't=$(mktemp -d); touch "$t/x"', 'allow write'],
    ['from mktemp elsewhere are not known', 't=$(mktemp -p /etc); touch "$t"', 'confirm obfuscated'],
    ['of the home are known', 'touch "$HOME/x"', 'confirm destructive'],
    ['of the home are not known once they are touched', 'read HOME; touch ~/x', 'confirm obfuscated'],
    ['of the directory are known', 'touch "$PWD/x"', 'allow write'],
  ])('%s', (_what, command, outcome) => {
    expect(outcomeOf(command)).toBe(outcome);
  });
});

it.each([
  ['path=(/x); ls', 'zsh'],
  ['for path in /x; do ls; done', 'zsh'],
  ["zsh -c 'path=(/x); ls'", 'bash'],
  ['$~x y', 'zsh'],
  ['$=x y', 'zsh'],
] as const)('%j means to %s what it does not to bash', (command, shell) => {
  expect(outcomeOf(command, { shell })).toBe('confirm obfuscated');
});
