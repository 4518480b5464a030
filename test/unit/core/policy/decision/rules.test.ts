import { describe, expect, it } from 'vitest';

import { decide, PRESETS } from '../../../../../src/core/policy/policy.js';
import { compileRule, findRuleFaults, type RuleDefinition } from '../../../../../src/core/policy/rules.js';
import { facts, HOME, outcomeOf, ruleOf, verdictOn } from '../support.js';
import { HANG_MS } from '../../../../support/hang.js';

const outcomeWith = (command: string, ...rules: RuleDefinition[]) =>
  outcomeOf(command, {}, { rules: rules.map(ruleOf) });

/** The action where the classes ask about nothing, so that the rules alone decide. */
const actionByRules = (command: string, ...rules: RuleDefinition[]) => {
  const actions = { ...PRESETS.permissive, exfiltration: 'allow', obfuscated: 'allow', destructive: 'allow' } as const;
  return decide({ actions, rules: rules.map(ruleOf) }, { command }, facts()).action;
};

describe('a rule', () => {
  it.each<[string, RuleDefinition, string, boolean]>([
    ['by its program', { action: 'deny', program: ['git'] }, 'git status', true],
    ['by its program behind wrappers', { action: 'deny', program: ['git'] }, 'sudo env A=b git status', true],
    ['by its program in a substitution', { action: 'deny', program: ['git'] }, 'echo $(git status)', true],
    ['by its program in text for a shell', { action: 'deny', program: ['git'] }, "sh -c 'git status'", true],
    ['by its program, spelled another way', { action: 'deny', program: ['git'] }, "g''it status", true],
    ['not by a word that is no program', { action: 'deny', program: ['git'] }, 'echo git', false],
    ['by a pattern of programs', { action: 'deny', program: ['git-*'] }, 'git-lfs pull', true],
    ['by the path of a program', { action: 'deny', program: ['/opt/*/tool'] }, '/opt/x/tool', true],
    ['not by another path', { action: 'deny', program: ['/opt/*/tool'] }, '/opt/x/y/tool', false],
    ['by an argument', { action: 'deny', program: ['npm'], args: ['publish'] }, 'npm publish --tag x', true],
    ['not by another argument', { action: 'deny', program: ['npm'], args: ['publish'] }, 'npm run publish-docs', false],
    ['by all of its arguments', { action: 'deny', args: ['a*', '*b'] }, 'x ab', true],
    ['not by some of its arguments', { action: 'deny', args: ['a*', '*b'] }, 'x ac', false],
    ['by a path that is written', { action: 'deny', path: ['/work/space/dist/**'] }, 'echo x > dist/a/b', true],
    ['by a path, whichever way it is written', { action: 'deny', path: ['/work/space/dist'] }, 'touch x/../dist', true],
    ['by a path that is read', { action: 'deny', path: ['/work/space/.env'] }, 'cat .env', true],
    ['by the directory itself', { action: 'deny', path: ['/work/space/dist/**'] }, 'rm -r dist', true],
    ['by a path at home', { action: 'deny', path: ['~/notes/*'] }, 'cat ~/notes/x', true],
    ['not by a path elsewhere', { action: 'deny', path: ['/work/space/dist/**'] }, 'touch distant', false],
    ['by an expression', { action: 'deny', regex: '^git (push|pull)' }, 'git push origin', true],
    ['by an expression, without quotes', { action: 'deny', regex: '^git push$' }, `"git" pu''sh`, true],
    ['by an expression over the whole text', { action: 'deny', regex: 'curl.*\\| *jq' }, 'curl x | jq .', true],
    ['not by an expression that is not found', { action: 'deny', regex: '^push' }, 'git push', false],
    ['by all that it has', { action: 'deny', program: ['git'], regex: 'push' }, 'git push', true],
    ['not by half of it', { action: 'deny', program: ['git'], regex: 'push' }, 'svn push', false],
  ])('applies %s', (_how, definition, command, expected) => {
    expect(outcomeWith(command, definition).startsWith('deny')).toBe(expected);
  });

  it.each<[string, RuleDefinition, string]>([
    ['an argument', { action: 'deny', program: ['npm'], args: ['publish'] }, 'npm $x'],
    ['a pattern that the shell fills in', { action: 'deny', program: ['cat'], args: ['secret'] }, 'cat s*'],
    ['a path', { action: 'deny', path: ['/work/space/.env'] }, 'cat "$f"'],
    ['a program', { action: 'deny', program: ['npm'] }, '$UNKNOWN publish'],
    ['the output of a program', { action: 'deny', program: ['npm'] }, '"$(cat p)" publish'],
    ['a program behind wrappers', { action: 'deny', program: ['npm'], args: ['publish'] }, 'env A=b nice "$X" publish'],
    ['a text for a shell', { action: 'deny', program: ['npm'] }, 'sh -c "$X"'],
    ['a very long text', { action: 'deny', program: ['echo'], regex: 'x$' }, `echo ${'y'.repeat(5000)}`],
  ])('that forbids asks when it depends on %s that is not known', (_what, definition, command) => {
    expect(actionByRules(command, definition)).toBe('confirm');
  });

  it.each<[string, RuleDefinition, string]>([
    ['other arguments', { action: 'deny', program: ['npm'], args: ['publish'] }, '$UNKNOWN test'],
    ['no program', { action: 'deny', program: ['npm'] }, 'X=$(cat p)'],
  ])('that forbids does not apply to an unknown program with %s', (_what, definition, command) => {
    expect(actionByRules(command, definition)).toBe('allow');
  });

  it('that allows does not apply to an unknown program', () => {
    expect(outcomeWith('$UNKNOWN publish', { action: 'allow', program: ['npm'] })).toBe('confirm obfuscated');
  });

  it.each<[string, RuleDefinition, string, string]>([
    ['lets run what would be asked about', { action: 'allow', program: ['rm'] }, 'rm x', 'allow destructive'],
    [
      'does not for another command of the text',
      { action: 'allow', program: ['rm'] },
      'rm x; shred y',
      'confirm destructive',
    ],
    ['does not for redirections', { action: 'allow', program: ['rm'] }, 'rm x > /etc/y', 'confirm persistence'],
    ['does not for variables', { action: 'allow', program: ['rm'] }, 'LD_PRELOAD=y rm x', 'confirm obfuscated'],
    [
      'does not for what is in a substitution',
      { action: 'allow', program: ['echo'] },
      'echo $(rm x)',
      'confirm destructive',
    ],
    ['does not for what is run by it', { action: 'allow', program: ['sudo'] }, 'sudo rm x', 'confirm destructive'],
    [
      'does not when its arguments are not known',
      { action: 'allow', program: ['rm'], args: ['build'] },
      'rm $x',
      'confirm destructive',
    ],
    [
      'does not by a part of the text',
      { action: 'allow', regex: 'rm build' },
      'echo rm build; rm src',
      'confirm destructive',
    ],
    [
      'lets a start-up file of known content be read',
      { action: 'allow', program: ['.', 'source'], args: ['*/env.sh'] },
      '. ./env.sh',
      'allow obfuscated',
    ],
  ])('that allows %s', (_what, definition, command, outcome) => {
    expect(outcomeWith(command, definition)).toBe(outcome);
  });

  it('wins by being stricter, not by coming first', () => {
    const allow: RuleDefinition = { action: 'allow', program: ['rm'] };
    const confirm: RuleDefinition = { action: 'confirm', program: ['rm'] };
    const deny: RuleDefinition = { action: 'deny', program: ['rm'] };
    expect(outcomeWith('rm x', allow, confirm)).toMatch(/^confirm/);
    expect(outcomeWith('rm x', confirm, allow)).toMatch(/^confirm/);
    expect(outcomeWith('rm x', deny, allow, confirm)).toMatch(/^deny/);
  });

  it('gives its reason, or says what it is', () => {
    const rules = [ruleOf({ action: 'deny', program: ['npm'], reason: 'the pipeline does that' })];
    expect(verdictOn('npm test', {}, { rules }).reasons[0]).toBe('the pipeline does that');
    expect(verdictOn('npm test', {}, { rules: [ruleOf({ action: 'deny', program: ['npm'] })] }).reasons[0]).toBe(
      'a rule says deny: npm',
    );
  });

  it('takes no time that grows faster than the text, whatever the expression', () => {
    const rules = [ruleOf({ action: 'deny', regex: '(a+)+$' })];
    const start = performance.now();
    verdictOn(`echo ${'a'.repeat(4000)}b`, {}, { rules });
    expect(performance.now() - start).toBeLessThan(HANG_MS);
  });

  it.each<[string, RuleDefinition, string]>([
    ['no condition', { action: 'deny' }, 'action'],
    ['a broken expression', { action: 'deny', regex: '(' }, 'regex'],
    ['an expression that looks ahead', { action: 'deny', regex: 'a(?=b)' }, 'regex'],
  ])('with %s is refused', (_what, definition, field) => {
    expect(compileRule(definition, HOME)).toMatchObject({ problem: { field } });
  });
});

describe('the tests of a rule', () => {
  it('pass when it applies to what it must, and to nothing that it must not', () => {
    expect(
      findRuleFaults({
        action: 'allow',
        program: ['rm'],
        path: ['/workspace/build/**'],
        match: ['rm -rf build'],
        not_match: ['rm -rf src', 'rm -rf build/../src'],
      }),
    ).toEqual([]);
  });

  it('fail one by one, each at its place', () => {
    const faults = findRuleFaults({
      action: 'deny',
      program: ['npm'],
      match: ['npm x', 'yarn x'],
      not_match: ['npm y', 'ls'],
    });
    expect(faults).toEqual([
      { path: ['match', 1], message: 'this test of the rule fails: it does not apply to "yarn x"' },
      { path: ['not_match', 0], message: 'this test of the rule fails: it applies to "npm y"' },
    ]);
  });

  it.each([
    ['a rule that forbids applies where it may', 'deny' as const, []],
    ['a rule that allows does not', 'allow' as const, [expect.objectContaining({ path: ['match', 0] }) as unknown]],
  ])('%s', (_what, action, faults) => {
    expect(findRuleFaults({ action, program: ['npm'], args: ['publish'], match: ['npm $x'] })).toEqual(faults);
  });
});
