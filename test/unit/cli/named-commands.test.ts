import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Command } from 'commander';
import { expect, it } from 'vitest';

import type { Context } from '../../../src/cli/console/context.js';
import { createProgram } from '../../../src/cli/subcommands.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Files and folders that tell users what to type. */
const PLACES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'docs',
  'skills',
  'deploy',
  'config',
  'man',
  'src',
  'clients',
];
const TEXTS = /\.(?:md|tsx?|py|ya?ml|service|conf|cfg|html|1)$|Dockerfile$/;
/** What others have written, and what is about other programs. */
const FOREIGN = /(?:^|\/)(?:node_modules|__pycache__|\.vitepress|docs\/api|src\/core\/policy)(?:\/|$)/;

/** Words after the name of the program that make a sentence with it, and no command. */
const PROSE = new Set(
  'admits and at can client daemon does for from gateway has is itself listens of on or package test that where which'.split(
    ' ',
  ),
);

/** Before the name where another program takes it: kubectl a namespace, docker a container, an MCP client its server. */
const OTHERS = String.raw`(?<!-n |--namespace |exec |--cli )`;

/** What stands before a command: the program by its name or path, or a function that puts it there. */
const PREFIX = String.raw`${OTHERS}(?:(?<![\w/.@:=-])shell-adapter|main\.js|shell-adapter\.cjs|programName\}) +|commandLine\(['"${'`'}]`;

const program = createProgram({ programName: 'shell-adapter', version: '' } as Context);

/** A command after the name of the program, or one with an option in code of a page. */
const COMMAND = new RegExp(
  `(?:${PREFIX})([a-z][^\\n]*)|\`((?:${program.commands.map((command) => command.name()).join('|')})(?: [a-z]+)? --[a-z][^\`\\n]*)\``,
  'g',
);

function listFiles(place: string): string[] {
  if (FOREIGN.test(place)) return [];
  if (!statSync(join(ROOT, place)).isDirectory()) return TEXTS.test(place) ? [place] : [];
  return readdirSync(join(ROOT, place)).flatMap((name) => listFiles(`${place}/${name}`));
}

/** The words of a command line up to the end of the text, the pipe, or the comment in which it stands. */
const wordsOf = (text: string): string[] =>
  (/^[^`'"|;&><#()\\]*/.exec(text)?.[0] ?? '')
    .split(/\s+/)
    .map((word) => word.replace(/[.,:\]…]+$/, ''))
    .filter((word) => word !== '');

/** Why there is no such command; undefined if there is. */
function findFault(words: readonly string[]): string | undefined {
  let command: Command = program;
  for (const word of words) {
    const child = command.commands.find((candidate) => candidate.name() === word);
    if (child) command = child;
    else if (command === program) return PROSE.has(word) ? undefined : `no subcommand ${word}`;
    // A hyphen alone stands for standard input.
    else if (/^-./.test(word)) {
      const [flag = ''] = word.split('=');
      const isKnown =
        ['-h', '--help', '--'].includes(flag) ||
        command.options.some(({ short, long }) => flag === short || flag === long);
      if (!isKnown) return `${command.name()} has no option ${flag}`;
    } else if (command.commands.length > 0)
      return /^[a-z]/.test(word) && word !== 'help' ? `${command.name()} has no subcommand ${word}` : undefined;
    // What follows is the command that `exec` runs.
    else if (command.name() === 'exec') return undefined;
  }
  return undefined;
}

/** The faults of the commands in a text. */
function faultsOf(text: string): readonly string[] {
  const plain = text.replaceAll('\\-', '-').replaceAll(/\\f[BIRP]/g, '');
  return [...plain.matchAll(COMMAND)].flatMap(([found, named, inCode = '']) => {
    const fault = findFault(wordsOf(named ?? inCode));
    return fault === undefined ? [] : [`${found.slice(0, 100)}: ${fault}`];
  });
}

const files = PLACES.flatMap(listFiles);
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

/** All matches of a pattern in the texts, after the names of their files. */
const findAll = (pattern: RegExp) =>
  files.flatMap((file) => [...read(file).matchAll(pattern)].map(([, found = '']) => ({ file, found })));

it('every command of this program that a text names exists, with its options', () => {
  const faults = files.flatMap((file) => faultsOf(read(file)).map((fault) => `${file}: ${fault}`));
  expect(faults).toEqual([]);
});

it.each([
  ['shell-adapter shell', 'no subcommand shell'],
  ['shell-adapter audit --verify', 'audit has no option --verify'],
  ['shell-adapter token make', 'token has no subcommand make'],
  ['`exec --tyt bash`', 'exec has no option --tyt'],
])('finds the fault of %s', (text, fault) => {
  expect(faultsOf(`Type ${text}`)).toEqual([expect.stringContaining(fault)]);
});

it('no text installs a package of this name from a registry, where anybody could have taken it', () => {
  expect(findAll(/(np[mx] (?:install |i |exec |-y |--\S+ )*shell-adapter)(?![\w/@-])/g)).toEqual([
    { file: 'src/main.ts', found: 'npx shell-adapter' },
  ]);
});

it('every method of the Python client that a page names exists', () => {
  const source = (name: string) => read(`clients/python/shell_adapter/${name}.py`);
  const [requests, others] = [source('_requests'), ['_client', '_sync', '_sessions'].map(source).join('')];
  const named = findAll(/(?<!\w)(?:client|session|again)\.((?:requests\.)?[a-z]+(?:_[a-z]+)+)/g).filter(({ file }) =>
    file.endsWith('.md'),
  );
  expect(named).not.toEqual([]);
  const unknown = named.filter(({ file, found }) => {
    // This page makes the request, and a test follows it.
    if (file === 'docs/develop/add-a-request.md') return false;
    const [, inRequests, name = ''] = /^(requests\.)?(.*)$/.exec(found) ?? [];
    return !(inRequests === undefined ? others : requests).includes(`def ${name}(`);
  });
  expect(unknown).toEqual([]);
});
