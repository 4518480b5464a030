import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { JudgedCommand } from '../../../../src/dashboard/state/wire.js';
import { judgedTree } from '../../../../src/dashboard/components/judged-commands.js';
import { tokensOf } from '../../../../src/dashboard/components/shell-tokens.js';
import { codePointsOf, piecesOf } from '../../../../src/dashboard/components/command-text.js';
import { anyCharacter } from '../../../support/code-points.js';

const text = fc.string({
  unit: fc.constantFrom(...'a b - $ " \' ` ( ) | ; & < > \\ # = if'.split(' '), ' ', '\n', '\u202e', 'é', '\ud800'),
});

describe('the parts of a command', () => {
  const shown = (command: string) =>
    tokensOf(command)
      .filter(({ kind }) => kind !== 'space')
      .map(({ kind, text: part }) => `${kind} ${part}`);

  it.each([
    ['rm -rf /srv', ['command rm', 'option -rf', 'argument /srv']],
    ['A=1 make && echo "$HOME/x"', ['assignment A=1', 'command make', 'operator &&', 'command echo']],
    ['if true; then a; fi # b', ['keyword if', 'command true', 'operator ;', 'keyword then', 'command a']],
    ["echo 'a # b' # c", ['command echo', "string 'a # b'", 'comment # c']],
    [
      'a >b 2>&1 | c',
      ['command a', 'operator >', 'argument b', 'operator 2>&', 'argument 1', 'operator |', 'command c'],
    ],
    ['>log rm x', ['operator >', 'argument log', 'command rm', 'argument x']],
    ['echo a#b', ['command echo', 'argument a#b']],
  ])('are recognized in %j', (command, parts) => {
    expect(shown(command)).toEqual(expect.arrayContaining(parts));
  });

  it.each([
    'echo "$(rm -rf x)"',
    'echo `rm -rf x`',
    'echo "`rm -rf x`"',
    'x=$((1+(2))); rm y',
    '(cd /; rm z)',
    '<(rm q)',
  ])('show the commands within %j', (command) => {
    expect(shown(command)).toContain('command rm');
  });

  it('are the whole command together', () => {
    fc.assert(
      fc.property(text, (command) => {
        expect(
          tokensOf(command)
            .map((token) => token.text)
            .join(''),
        ).toBe(command);
      }),
    );
  });
});

describe('special characters', () => {
  it.each([
    ['\u202e', 'a right-to-left override'],
    ['\u200b', 'a zero-width space'],
    ['\u0007', 'a bell'],
    ['\t', 'a tab'],
    ['\r', 'a carriage return'],
    ['\u00a0', 'a no-break space'],
    ['\u00ad', 'a soft hyphen'],
    ['\u3164', 'a Hangul filler'],
    ['\u034f', 'a grapheme joiner'],
    ['\ufe0f', 'a variation selector'],
    ['\u{e0041}', 'a tag'],
    ['\ue000', 'a private character'],
    ['\u2028', 'a line separator'],
    ['\u2800', 'a braille blank'],
    ['\ud800', 'a lone surrogate'],
  ])('%j is one: %s', (character) => {
    expect(piecesOf(`a${character}b`)).toEqual([
      { kind: 'plain', text: 'a' },
      { kind: 'special', text: character },
      { kind: 'plain', text: 'b' },
    ]);
  });

  it('are not letters beyond ASCII, which are marked together', () => {
    expect(piecesOf('pаsé\nx')).toEqual([
      { kind: 'plain', text: 'p' },
      { kind: 'foreign', text: 'а' },
      { kind: 'plain', text: 's' },
      { kind: 'foreign', text: 'é' },
      { kind: 'plain', text: '\nx' },
    ]);
    expect(codePointsOf('а😀')).toBe('U+0430 U+1F600');
  });

  it('leave nothing out', () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: anyCharacter })), (value) => {
        expect(
          piecesOf(value)
            .map((piece) => piece.text)
            .join(''),
        ).toBe(value);
      }),
    );
  });
});

it('puts judged commands below those that contain them', () => {
  const judged = (command: string): JudgedCommand => ({
    command,
    program: null,
    action: 'allow',
    class: 'read',
    reasons: [],
  });
  const commands = ['sudo bash -c "rm x"', 'bash -c "rm x"', 'rm x', 'ls'].map(judged);
  const [sudo, bash, rm, ls] = commands;
  expect(judgedTree(commands)).toEqual([
    { command: sudo, children: [{ command: bash, children: [{ command: rm, children: [] }] }] },
    { command: ls, children: [] },
  ]);
});
