import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COMMAND_CLASSES } from '../../../src/core/policy/model.js';
import { PRESETS } from '../../../src/core/policy/policy.js';
import { BARE_ENV, load, problemsOf } from './support.js';

describe('confirmation', () => {
  it('is as shipped where nothing is said', () => {
    expect(load('').confirmation).toEqual({
      mode: 'self',
      preset: 'balanced',
      classes: PRESETS.balanced,
      actions: PRESETS.balanced,
      modes: {},
      rules: [],
      expiresMs: 60_000,
      checkpoint: true,
      checkpointTimeoutMs: 5000,
      reviewer: {
        provider: 'openai',
        baseUrl: 'https://api.openai.com/v1',
        model: undefined,
        apiKey: undefined,
        timeoutMs: 30_000,
        cacheMs: 300_000,
      },
    });
  });

  it.each(['preset: balanced', 'classes: { network: deny }', 'rules: [{ action: deny, program: npm }]'])(
    'is on unless the mode says off: %s',
    (text) => {
      expect(load(`confirmation: { ${text} }`).confirmation.mode).toBe('self');
      expect(load(`confirmation: { mode: off, ${text} }`).confirmation.mode).toBe('off');
    },
  );

  it('takes a reviewing model, whose key is not shown', () => {
    const env = { ...BARE_ENV, REVIEW_KEY: 'very-secret' };
    const { reviewer } = load(
      'confirmation: { mode: llm, reviewer: { base_url: "http://127.0.0.1:1/v1", model: m, api_key: "${REVIEW_KEY}" } }',
      { env },
    ).confirmation;
    expect(reviewer.apiKey?.reveal()).toBe('very-secret');
    expect(`${JSON.stringify(reviewer)} ${String(reviewer.apiKey)}`).not.toContain('very-secret');
  });

  it.each(['mode: llm', 'mode: self, classes: { network: llm }'])('needs a model where one is asked: %s', (text) => {
    expect(problemsOf(`confirmation: { ${text} }`)).toEqual([
      expect.stringContaining('confirmation.reviewer.model: is needed, because commands are confirmed by llm'),
    ]);
  });

  it('takes a preset, and single classes that differ from it: by an action, or by who confirms them', () => {
    const { actions, modes } = load(
      'confirmation: { preset: strict, classes: { write: allow, network: deny, privilege: operator } }',
    ).confirmation;
    expect(actions).toEqual({ ...PRESETS.strict, write: 'allow', network: 'deny', privilege: 'confirm' });
    expect(modes).toEqual({ privilege: 'operator' });
  });

  it('takes rules, with one text or several', () => {
    const { rules } = load(
      'confirmation: { rules: [{ action: deny, program: npm, args: [publish], match: [npm publish] }] }',
    ).confirmation;
    expect(rules).toEqual([{ action: 'deny', program: ['npm'], args: ['publish'], match: ['npm publish'] }]);
  });

  it('can be overridden by variables', () => {
    const env = {
      ...BARE_ENV,
      SHELL_ADAPTER_CONFIRMATION_MODE: 'self',
      SHELL_ADAPTER_CONFIRMATION_CLASSES_NETWORK: 'deny',
      SHELL_ADAPTER_CONFIRMATION_RULES: '[{ action: deny, program: dd }]',
    };
    const { mode, actions, rules } = load('', { env }).confirmation;
    expect({ mode, network: actions.network, rules: rules.length }).toEqual({
      mode: 'self',
      network: 'deny',
      rules: 1,
    });
  });

  it.each([
    ['{ mode: on }', '1:23 confirmation.mode: must be one of self, operator, llm, off; got the text "on"'],
    ['{ preset: lax }', expect.stringContaining('must be one of permissive, balanced, strict')],
    ['{ clases: {} }', '1:17 confirmation.clases: unknown key; did you mean "classes"?'],
    ['{ classes: { writing: deny } }', expect.stringContaining('1:28 confirmation.classes.writing: unknown key')],
    [
      '{ classes: { write: no } }',
      expect.stringContaining(
        'must be one of allow, checkpoint, confirm, deny, self, operator, llm; got the text "no"',
      ),
    ],
    ['{ expires: 0 }', expect.stringContaining('must be a number of seconds above 0')],
    ['{ rules: deny }', '1:24 confirmation.rules: must be a list of rules; got the text "deny"'],
    ['{ rules: [deny] }', expect.stringContaining('1:25 confirmation.rules[0]: must be a mapping with an action')],
    [
      '{ rules: [{ program: x }] }',
      expect.stringContaining('confirmation.rules[0].action: must be one of allow, checkpoint, confirm, deny'),
    ],
    [
      '{ rules: [{ action: deny, progam: x }] }',
      '1:41 confirmation.rules[0].progam: unknown key; did you mean "program"?',
    ],
    ['{ rules: [{ action: deny, program: 5 }] }', expect.stringContaining('must be a text or a list of texts')],
    ['{ rules: [{ action: deny, match: ls }] }', expect.stringContaining('must be a list of commands')],
    ['{ rules: [{ action: deny }] }', '1:35 confirmation.rules[0].action: a rule needs program, args, path or regex'],
    [
      '{ rules: [{ action: deny, regex: "(" }] }',
      expect.stringContaining('1:48 confirmation.rules[0].regex: is no regular expression of RE2'),
    ],
    [
      '{ rules: [{ action: deny, program: npm, match: [npm x, ls] }] }',
      '1:70 confirmation.rules[0].match[1]: this test of the rule fails: it does not apply to "ls"',
    ],
    [
      '{ rules: [{ action: deny, program: npm, not_match: [npm x] }] }',
      '1:67 confirmation.rules[0].not_match[0]: this test of the rule fails: it applies to "npm x"',
    ],
  ])('%s is refused at its place', (text, expected) => {
    expect(problemsOf(`confirmation: ${text}`)).toEqual([expected]);
  });

  it('says all faults of all rules at once', () => {
    const text = [
      'confirmation:',
      '  rules:',
      '    - { action: deny, program: a, match: [b, c] }',
      '    - { action: deny, regex: "(" }',
    ].join('\n');
    expect(problemsOf(text).map((problem) => problem.split(' ', 2).join(' '))).toEqual([
      '3:43 confirmation.rules[0].match[0]:',
      '3:46 confirmation.rules[0].match[1]:',
      '4:30 confirmation.rules[1].regex:',
    ]);
  });
});

describe('the shipped configuration', () => {
  const text = readFileSync(new URL('../../../config/shell_adapter.yaml', import.meta.url), 'utf8');

  it('shows what the default preset says of each class', () => {
    for (const name of COMMAND_CLASSES) expect(text).toContain(`# ${name}: ${PRESETS.balanced[name]}\n`);
  });

  it('has example rules that pass their own tests', () => {
    const example = /^ {2}# {3}rules:\n(?: {2}# {5}.*\n)+/m.exec(text)?.[0].replaceAll(/^ {2}# {2}/gm, '') ?? '';
    expect(load(`confirmation:\n${example}`).confirmation.rules).toHaveLength(2);
  });
});
