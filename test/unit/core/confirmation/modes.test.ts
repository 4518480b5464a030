import { describe, expect, it } from 'vitest';

import { boundText, isAsStrict, isCovered, mayDestroy, wayOf } from '../../../../src/core/confirmation.js';
import { factsOfFreshShell } from '../../../../src/core/policy/model.js';
import type { PolicyRequest } from '../../../../src/core/policy/analysis/inspect.js';
import { decide, PRESETS } from '../../../../src/core/policy/policy.js';
import { compileRule } from '../../../../src/core/policy/rules.js';

const compiled = compileRule({ action: 'confirm', program: ['make'], reason: 'it builds' }, undefined);
const rules = 'rule' in compiled ? [compiled.rule] : [];
const FUNCTIONS = new Map([['tidy', '{ rm -r build; }']]);

const judge = (request: PolicyRequest | string, functions = FUNCTIONS) =>
  decide(
    { actions: { ...PRESETS.balanced, destructive: 'confirm' }, rules },
    typeof request === 'string' ? { command: request } : request,
    factsOfFreshShell('/work/space', { functions, home: '/home/user' }),
  );

describe('who has to confirm a command', () => {
  const modes = { destructive: 'llm', privilege: 'operator' } as const;

  it.each([
    ['a class of which nothing is said', 'cat ~/.ssh/id_rsa', 'self'],
    ['a class that says who', 'rm x', 'llm'],
    ['of two classes, the stricter way', 'rm x; sudo ls', 'operator'],
    ['of two findings of one command, the stricter way', 'sudo rm x', 'operator'],
    ['a rule: whoever is asked by default', 'make', 'self'],
    ['a rule and a class: the stricter way', 'make; rm x', 'llm'],
  ])('%s: %j is confirmed by %s', (_what, command, expected) => {
    const verdict = judge(command);
    expect(verdict.action).toBe('confirm');
    expect(wayOf(verdict, { mode: 'self', modes })).toBe(expected);
  });

  it('the default may be stricter than what classes say', () => {
    expect(wayOf(judge('cat ~/.ssh/id_rsa; rm x'), { mode: 'operator', modes: { destructive: 'self' } })).toBe(
      'operator',
    );
  });

  it('modes have an order', () => {
    expect(isAsStrict('operator', 'llm') && isAsStrict('llm', 'self') && isAsStrict('self', 'self')).toBe(true);
    expect(isAsStrict('self', 'llm') || isAsStrict('llm', 'operator')).toBe(false);
  });
});

describe('what an approval covers', () => {
  it.each([
    ['the same command', 'rm x', 'rm x', true],
    ['less than was shown', 'rm x; rm y', 'rm y', true],
    ['more than was shown', 'rm x', 'rm x; rm y', false],
    ['what needs no approval any more', 'rm x', 'ls', true],
    ['what is denied by now', 'rm x', 'rm -rf /', false],
  ])('%s', (_what, approved, now, expected) => {
    expect(isCovered(judge(approved), judge(now))).toBe(expected);
  });

  it('not a function that was given another meaning', () => {
    const asked = judge('tidy');
    expect(isCovered(asked, judge('tidy'))).toBe(true);
    expect(isCovered(asked, judge('tidy', new Map([['tidy', '{ rm -r ~/work; }']])))).toBe(false);
  });

  it('not what comes behind more reasons than are shown', () => {
    const many = Array.from({ length: 30 }, (_, index) => `rm /data/a${index}`).join('; ');
    expect(isCovered(judge(`${many}; rm x`), judge(`${many}; rm x`))).toBe(true);
    expect(isCovered(judge(`${many}; rm x`), judge(`${many}; rm z`))).toBe(false);
  });
});

it.each([
  ['rm x', true],
  ['ls; sudo rm x', true],
  ['$program x', true],
  ['cat ~/.ssh/id_rsa', false],
  ['sudo ls', false],
])('the workspace is saved before %j: %s', (command, expected) => {
  expect(mayDestroy(judge(command))).toBe(expected);
});

it('the text that is bound tells arguments from words of a command', () => {
  expect(boundText({ command: 'rm x' })).toBe('rm x');
  expect(boundText({ command: 'rm', args: [] })).toBe('rm');
  expect(boundText({ command: 'rm', args: ['a b', 'c'] })).toBe('rm\0a b\0c');
});
