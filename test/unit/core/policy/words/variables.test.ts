import { describe, expect, it } from 'vitest';

import { outcomeOf, verdictOn } from '../support.js';

describe('a variable whose value follows from the text', () => {
  it.each([
    ['assigned in a branch', 'if test -d a; then d=build; mkdir "$d"; fi'],
    ['assigned in a loop', 'while read -r line; do d=build; mkdir "$d"; done < list'],
    ['assigned in a function', 'make_all() { local d=build; mkdir "$d"; }'],
    ['assigned behind &&', 'test -d a && d=build && mkdir "$d"'],
    ['exported', 'export d=build; mkdir "$d"'],
    ['marked as readonly later', 'd=build; readonly d; mkdir "$d"'],
    ['used in a function that is defined later', 'd=build; go() { mkdir "$d"; }; go'],
    ['named by printf', 'd=build; printf "%s\\n" "$d"; mkdir "$d"'],
    ['with a default elsewhere', 'd=build; echo "${d:-none}"; mkdir "$d"'],
    ['read in arithmetic', 'n=3; echo $((n + 1)); mkdir "dir$n"'],
    ['that is a counter', 'i=0; while ((i < 3)); do touch "file$i"; ((i++)); done'],
    ['that is computed', 'i=1; i=$((i + 1)); touch "file$i"'],
    ['beside a process that is waited for', 'd=build; make & wait $!; mkdir "$d"'],
  ])('is known: %s', (_, command) => {
    expect(verdictOn(command).action).toBe('allow');
  });

  it.each([
    ['outside of the branch', 'if test -d a; then d=build; fi; mkdir "/$d"'],
    ['outside of the function', 'f() { d=build; }; f; mkdir "/$d"'],
    ['in an alternative', 'test -d a && d=build || mkdir "/$d"'],
    ['behind a redirection that may fail', 'd=build > /missing/file; mkdir "/$d"'],
    ['behind a group whose redirection may fail', '{ d=build; } < missing; mkdir "/$d"'],
    ['declared again', 'd=build; f() { local d; mkdir "/$d"; }; f'],
    ['gone when a trap runs', 'f() { local d=build; trap \'mkdir "/$d"\' EXIT; }; f'],
    ['gone when an inner function runs', 'f() { local d=build; g() { mkdir "/$d"; }; }; f; g'],
    ['declared with an attribute', 'd=build; declare -u d; mkdir "/$d"'],
    ['set through command', 'd=build; command read d; mkdir "/$d"'],
    ['set through builtin', 'd=build; builtin printf -v d %s x; mkdir "/$d"'],
    ['set by a name in a variable', 'd=build; n=d; declare "$n=x"; mkdir "/$d"'],
    ['set by an eval', 'd=build; eval \'d=x\'; mkdir "/$d"'],
    ['set by a trap', 'd=build; trap \'d=x\' DEBUG; mkdir "/$d"'],
    ['set as a descriptor', 'd=build; exec {d}> file; mkdir "/$d"'],
    ['set by every command', '_=build; ls; mkdir "/$_"'],
    ['set by getopts', 'OPTARG=build; getopts a: o; mkdir "/$OPTARG"'],
    ['set behind a here-document that uses it', 'cat <<E; d=build\n$(mkdir "/$d")\nE'],
    ['set in zsh', 'd=build; set -A d x; mkdir "/$d"'],
    ['a number that may be empty', 'n=$(wc -l < missing); mkdir "/$n"'],
    ['a number that is unset', 'n=1; unset n; mkdir "/$n"'],
  ])('is not known: %s', (_, command) => {
    expect(verdictOn(command).hasUnknowns).toBe(true);
    expect(verdictOn(command).action).toBe('confirm');
  });
});

describe('a name of the session', () => {
  const aliases = new Map([
    ['ls', 'ls --color=auto'],
    ['ask', 'read d'],
  ]);
  const functions = new Map([
    ['greet', '{ echo hello; }'],
    ['choose', '{ d=$(cat list); }'],
    ['run', '{ eval "$1"; }'],
  ]);

  it.each(['ls', 'greet'])('leaves variables alone that its text does not set: %s', (name) => {
    expect(verdictOn(`d=build; ${name}; mkdir "$d"`, { aliases, functions }).hasUnknowns).toBe(false);
    expect(verdictOn(`i=1; ${name}; echo $((i))`, { aliases, functions }).class).not.toBe('obfuscated');
  });

  it.each(['ask', 'choose', 'run'])('may set a variable: %s', (name) => {
    expect(outcomeOf(`d=build; ${name}; mkdir "/$d"`, { aliases, functions })).toBe('confirm obfuscated');
  });
});

describe('a number', () => {
  it.each([
    'while getopts a:b o; do :; done; shift $((OPTIND - 1))',
    "trap 'rm -f /tmp/list.txt' EXIT; i=0; ((i++))",
    "i=0; eval 'echo hi'; ((i++))",
    'go() { echo hi; }; i=1; go; echo $((i))',
  ])('is certain: %s', (command) => {
    expect(verdictOn(command).action).toBe('allow');
  });

  it.each([
    ['of an alternative', 'false && x=1 || echo $((x))'],
    ['for another command', 'x=5 echo $((x))'],
    ['of the words of the same declaration', 'declare x=5 y=$((x))'],
    ['of a group whose redirection may fail', '{ x=1; } < missing; echo $((x))'],
    ['of an eval', "x=1; eval 'x=$(cat f)'; echo $((x))"],
    ['of a trap', "x=1; trap 'x=$y' DEBUG; echo $((x))"],
    ['that zsh evaluates', 'integer n; n=$(cat f)'],
  ])('is not certain: %s', (_, command) => {
    expect(outcomeOf(command)).toBe('confirm obfuscated');
  });
});
