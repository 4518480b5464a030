import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { followPage } from './follow-page.js';
import { makeHomes, Reader } from './reader.js';
import { isAsPrinted, readSteps } from './transcript.js';

const fenced = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\`\n\n`;

describe('what the page says is printed', () => {
  it.each([
    ['one', 'one', true],
    ['one', 'one\n\n', true],
    ['one', 'one\ntwo', false],
    ['', '', true],
    ['', 'one', false],
    ['a.c', 'abc', false],
    ['took … s', 'took 0.5 s', true],
    ['took … s', 'took\n s', false],
    ['…\nend', 'end', true],
    ['…\nend', 'one\ntwo\nend', true],
    ['…\nend', 'one\nend of it', false],
    ['…', '', true],
    ['…', 'one\ntwo', true],
  ])('%j for %j: %s', (expected, output, fits) => {
    expect(isAsPrinted(output, expected)).toBe(fits);
  });
});

it('types blocks in the terminals that the page names, and saves files where they are', () => {
  const page = [
    '# Title\n\nStart it in the clone:\n\n',
    fenced('console', '$ serve\nlistening'),
    '## Section\n\nIn another terminal, save a file.\n\nSave this as `a.js`:\n\n',
    fenced('js', '1;'),
    'In another terminal:\n\n',
    fenced('console', '$ node a.js\n$ echo two\ntwo\nlines'),
    'In the first terminal:\n\n',
    fenced('console', '^C\nstopped\n$ serve'),
    fenced('text', '$ not typed'),
  ].join('');
  const at = { line: expect.any(Number) as number };
  expect(readSteps(page)).toEqual([
    {
      ...at,
      kind: 'type',
      terminal: 1,
      isInClone: true,
      headings: ['Title'],
      examples: [{ command: 'serve', expected: 'listening', line: 6, mayKeepRunning: true }],
    },
    { ...at, kind: 'save', terminal: 1, headings: ['Title', 'Section'], name: 'a.js', text: '1;\n' },
    expect.objectContaining({
      terminal: 2,
      isInClone: false,
      examples: [
        { ...at, command: 'node a.js', expected: '', mayKeepRunning: false },
        { ...at, command: 'echo two', expected: 'two\nlines', mayKeepRunning: true },
      ],
    }),
    expect.objectContaining({
      terminal: 1,
      examples: [
        { ...at, command: '^C', expected: 'stopped', mayKeepRunning: false },
        { ...at, command: 'serve', expected: '', mayKeepRunning: false },
      ],
    }),
  ]);
});

describe('a reader', () => {
  const homes = makeHomes();
  afterAll(() => {
    homes[Symbol.dispose]();
  });
  let count = 0;
  const follow = (page: string): Promise<void> => {
    const reader = new Reader(join(homes.path, String((count += 1))), undefined);
    reader.makeHome();
    return followPage('page.md', page, reader);
  };

  it('keeps variables and the directory from block to block, sees an ordinary user, and interrupts', async () => {
    const page = [
      fenced('console', '$ mkdir demo && cd demo && name=Ada'),
      'Save this as `greeting`:\n\n',
      fenced('text', 'hello'),
      fenced('console', '$ echo "$(cat greeting) $name"; test "$(id -u)" != 0; echo $?\nhello Ada\n0'),
      fenced('console', '$ read -p "sure? [y/N] " reply; echo "said $reply"\nsure? [y/N] yes\nsaid yes'),
      fenced('console', '$ echo started; sleep 1000\nstarted'),
      'In another terminal:\n\n',
      fenced('console', '$ echo "$name"; pwd\n\n/…'),
    ].join('');
    await follow(page);
  });

  it.each([
    ['another output', '$ echo one\ntwo', /page\.md:2: echo one/],
    ['a program that is missing', '$ no-such-program', /no-such-program/],
    ['a variable that the page does not set', '$ echo "at $SHELL_ADAPTER_URL"\nat http://127.0.0.1:8087', /page\.md:2/],
    ['something left running', '$ setsid -f sleep 1000', /still runs/],
  ])('stumbles over %s', async (_name, text, message) => {
    await expect(follow(fenced('console', text))).rejects.toThrow(message);
  });
});
