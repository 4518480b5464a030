import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { findingOf } from '../../../../src/core/policy/effects.js';

const ROOT = 'src/core/policy';
const TABLE = readFileSync(`${ROOT}/effects.ts`, 'utf8');
const effects = [...(/^const EFFECTS = ([^]*?)^}/m.exec(TABLE)?.[1] ?? '').matchAll(/'([^']+)'/g)].map(
  ([, text]) => text,
);
const code = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && name !== 'effects.ts')
  .map((name) => readFileSync(`${ROOT}/${name}`, 'utf8'))
  .join('\n');

describe('the table of effects', () => {
  it('has each effect in one class', () => {
    expect(effects.length).toBeGreaterThan(80);
    expect(effects.filter((effect, at) => effects.indexOf(effect) !== at)).toEqual([]);
  });

  it('has no effect that nothing finds', () => {
    expect(effects.filter((effect) => !code.includes(effect!.replace(/^a path.*, /, '')))).toEqual([]);
  });
});

it.each([
  [findingOf('starts a shell', 'sh'), { class: 'execute', reason: 'sh starts a shell', isOfProgram: true }],
  [findingOf('runs a script', 'sh', 'x$&'), { class: 'execute', reason: 'sh runs a script: x$&', isOfProgram: true }],
  [
    findingOf('runs input from {what}', 'sh', '$&', false),
    { class: 'obfuscated', reason: 'sh runs input from $&', isOfProgram: false },
  ],
  [
    findingOf('a disk', 'rm deletes', '/dev/sda'),
    { class: 'destructive', reason: 'rm deletes a disk: /dev/sda', isOfProgram: false, isCatastrophe: true },
  ],
])('describes %j', (finding, expected) => {
  expect(finding).toEqual(expected);
});
