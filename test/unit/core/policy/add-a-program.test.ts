import { readFileSync } from 'node:fs';

import { expect, it } from 'vitest';

import { factsOfFreshShell } from '../../../../src/core/policy/model.js';
import { decide, PRESETS } from '../../../../src/core/policy/policy.js';
import { entriesOf, ProgramCatalog, type ProgramFamily } from '../../../../src/core/policy/program-catalog.js';
import { readEntries } from '../../../../src/core/policy/program-entries.js';
import { FAMILIES } from '../../../../src/core/policy/programs/programs.js';
import { ROLES } from '../../../../src/core/policy/subject/roles.js';

const PAGE = readFileSync('docs/develop/add-a-program.md', 'utf8');
const family: ProgramFamily = { name: 'page', entries: /^```text\n([^]*?)^```$/m.exec(PAGE)?.[1] ?? '' };
const PROGRAMS = new ProgramCatalog([...FAMILIES, family]);
const FACTS = factsOfFreshShell('/workspace', { home: '/home/user' });
const verdictOn = (command: string) => decide({ actions: PRESETS.balanced, rules: [] }, { command }, FACTS, PROGRAMS);

it('judges the examples of the new program as its entry says', () => {
  const { examples } = entriesOf(family);
  expect(examples.length).toBeGreaterThan(4);
  expect(examples.map(({ command }) => [command, verdictOn(command).class])).toEqual(
    examples.map(({ command, class: name }) => [command, name]),
  );
});

it.each([
  ['shipit -v deploy', ['shipit deploy changes what runs on the servers']],
  ['shipit deploy --force', ['shipit deploy --force replaces what runs there']],
  ['shipit --token x status', ['shipit --token shows a token to all who list processes']],
  ['shipit --token @file status', []],
  ['shipit restart prod-1', ['changes what runs on prod-1']],
])('tells why: %s', (command, reasons) => {
  const told = verdictOn(command).reasons;
  for (const reason of reasons) expect(told).toContain(reason);
  if (reasons.length === 0) expect(verdictOn(command).action).toBe('allow');
});

it('explains all that an entry can say', () => {
  const source = readFileSync('src/core/policy/program-entries.ts', 'utf8');
  const running = /^const RUNNING[^]*?^};/m.exec(source)?.[0] ?? '';
  const words = [
    ...[...running.matchAll(/^ {2}'?([a-z-]+)'?:/gm)].map(([, name]) => name),
    ...(/^const FACT = \/\^\(([^)]+)\)/m.exec(source)?.[1]?.replace('e\\.g\\.', 'e.g.').split('|') ?? []),
    ...Object.keys(ROLES),
  ];
  expect(words.length).toBeGreaterThan(25);
  const shown = [...PAGE.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code).join(' ');
  expect(words.filter((word) => !new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(shown))).toEqual([]);
});

it.each([
  ['x', 'is no head of an entry: NAMES <OPERANDS>: CLASS REASON: x'],
  ['x <files>: read', 'has a role that is none of text, read, tree, write'],
  ['x: read\n  nonsense', 'is neither an option, nor a subcommand with its class, nor a fact: nonsense'],
  ['x: read\n  -a == write', 'is not: OPTIONS = VALUE last <OPERANDS> ! CLASS REASON unless /PATTERN/'],
  ['x: read\n  -a = wrong', 'has a role that is none of text, read, tree, write'],
  ['x: read\n  unknown words are options', 'is not: unknown words are operands'],
  ['x: read\n  runs backwards', 'has an unknown word: backwards'],
  ['x: read\n  rule missing', 'names a rule that is not there: missing'],
  ['x: read\n  like missing', 'names no entry that stands before it: missing'],
  ['x: read\n  like x', 'includes itself: like x'],
  ['x: read\n  when /a ! write b', 'is not: when [no] operand|process|input|/PATTERN/ ! CLASS REASON'],
  ['x: read\n  shows all', 'is not: shows any|first|exactly'],
  ['x: read\n  typed code maybe', 'has an unknown condition for typed input: maybe'],
  ['x: read\n  e.g. x', 'is not: e.g. COMMAND: CLASS'],
  ['x: read\nx: write', 'is a second entry of x'],
])('refuses %j', (text, problem) => {
  expect(() => readEntries(text)).toThrow(problem);
});

it('names the line that it cannot read', () => {
  expect(() => readEntries('x: read\n  -a -b \\\n    -c\n\n  nonsense')).toThrow(/^line 5 of the programs/);
});
