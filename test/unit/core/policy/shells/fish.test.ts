import { describe, expect, it } from 'vitest';

import { verdictOn } from '../support.js';

const actionOn = (command: string): string => {
  const { action, class: commandClass } = verdictOn(command, { shell: 'fish' });
  return `${action} ${commandClass}`;
};

describe('a text for fish', () => {
  it.each([
    ['ls -la src', 'allow read'],
    ['git status && cat "a b" | wc -l >out.txt 2>&1', 'allow write'],
    ['grep -r \'x;y\' . || echo "none in $HOME"', 'allow read'],
    ['cd build; make -j4 &', 'allow execute'],
    ['rm -rf build', 'confirm destructive'],
    ['rm -rf $HOME/x', 'confirm destructive'],
    ["bash -c 'rm -rf build'", 'confirm destructive'],
  ])('that POSIX shells read alike is judged like theirs: %s', (command, expected) => {
    expect(actionOn(command)).toBe(expected);
  });

  it.each([
    'echo (cat x)',
    'set x 1',
    'if true; ls; end',
    'true; and ls',
    'not ls',
    'begin; ls; end',
    'function ls; rm x; end',
    'alias ls=rm',
    'for x in a b; rm $x; end',
    'ls **',
    'ls ?',
    'ls [ab]',
    'ls {a,b}',
    'echo $x[1]',
    'echo "$x[1]"',
    'echo "$(ls)"',
    'echo "a\\$b"',
    "echo 'a\\'b'",
    'ls \\',
    'rm a&b',
    'source x.fish',
    '. x.fish',
    'eval ls',
    'read x',
    'cat <<E\nx\nE',
    'ls $$x',
    'ls &| cat',
    'ls |& cat',
    'f() { ls; }',
    'fish_add_path /x',
    "'set' x 1",
    '>out set x 1',
    'A=1 set x 1',
    's"e"t x 1',
    'x=`ls`',
    'ls # $(x)',
  ])('that only fish understands asks: %s', (command) => {
    expect(actionOn(command)).toBe('confirm obfuscated');
  });

  it.each([
    'rm -rf /',
    'if true; rm -rf /; end',
    'begin; rm -rf /; end',
    'true; and rm -rf /',
    'true; or not rm -rf /',
    'echo (rm -rf /)',
    'for x in a\n  rm -rf /\nend',
    "eval 'rm -rf /'",
    "set x 1; bash -c 'rm -rf /'",
    'while sleep 1; mkfs.ext4 /dev/sda; end',
  ])('with a catastrophe is denied: %s', (command) => {
    expect(actionOn(command)).toBe('deny destructive');
  });
});

it('a function of fish is not read: what is called by its name asks', () => {
  const functions = new Map([['deploy', '{ eval "$fish_body"; }']]);
  expect(verdictOn('deploy x', { shell: 'fish', functions })).toMatchObject({ action: 'confirm' });
});
