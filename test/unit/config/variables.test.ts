import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expandVariables } from '../../../src/config/read/environment-variables.js';
import { load, problemsOf } from './support.js';

const ENV = { HOME: '/home/ada', A: 'alpha', EMPTY: '', PORT: '9000', NESTED: '${A}', LIST: '[X, Y_*]' };

describe('expanding variables', () => {
  it.each([
    ['', ''],
    ['plain $A {A}', 'plain $A {A}'],
    ['${A}', 'alpha'],
    ['<${A}-${A}>', '<alpha-alpha>'],
    ['${EMPTY}', ''],
    ['${EMPTY:-x}', 'x'],
    ['${NOPE:-x}', 'x'],
    ['${NOPE:-}', ''],
    ['${A:-x}', 'alpha'],
    ['${NOPE:-${A}/y}', 'alpha/y'],
    ['${NOPE:-${NEITHER:-z}}!', 'z!'],
    ['${NOPE:-a b: [c]}', 'a b: [c]'],
    ['${NOPE:-$${}}', '${}'],
    ['$${A}', '${A}'],
    ['$${A} ${A}', '${A} alpha'],
    ['$$ ${A}', '$$ alpha'],
    ['${NESTED}', '${A}'],
    ['${A}}', 'alpha}'],
  ])('turns %j into %j', (text, expected) => {
    expect(expandVariables(text, ENV)).toEqual({ text: expected });
  });

  it.each([
    ['${NOPE}', 'needs the environment variable NOPE, which is not set'],
    ['${NOPE:-${NEITHER}}', 'needs the environment variable NEITHER'],
    ['${A', 'has a "${" without its "}"'],
    ['${NOPE:-${A}', 'has a "${" without its "}"'],
    ['${}', 'has "${}", which is not ${NAME} or ${NAME:-default}'],
    ['${A-x}', 'has "${A-x}", which is not'],
    ['${1A}', 'has "${1A}", which is not'],
  ])('refuses %j', (text, expected) => {
    expect(expandVariables(text, ENV)).toEqual({ problem: expect.stringContaining(expected) as unknown });
  });

  it('leaves a text without "${" as it is', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!text.includes('${'));
        expect(expandVariables(text, ENV)).toEqual({ text });
      }),
    );
  });

  it('gives back any text whose "${" are escaped', () => {
    const pieces = fc.array(fc.constantFrom('a', '${', '}', 'A', ' '));
    fc.assert(
      fc.property(pieces, (parts) => {
        const escaped = parts.map((part) => (part === '${' ? '$${' : part)).join('');
        expect(expandVariables(escaped, ENV)).toEqual({ text: parts.join('') });
      }),
    );
  });
});

describe('a variable in a file', () => {
  it.each([
    ['socketio: { port: "${PORT}" }', 9000],
    ['socketio:\n  port: ${PORT}\n', 9000],
    ['socketio:\n  port: ${NOPE:-1234}\n', 1234],
    ['socketio:\n  port: ${NOPE:-${PORT}}\n', 9000],
  ])('is a number where one belongs: %j', (text, expected) => {
    expect(load(text, { env: ENV }).socketio.port).toBe(expected);
  });

  it('is a number where one belongs in an entry of a list, and text elsewhere in it', () => {
    const text = 'notify: { webhooks: [{ url: "http://127.0.0.1:1/", timeout: "${SECONDS}", secret: "${KEY}" }] }';
    const [webhook] = load(text, { env: { SECONDS: '7', KEY: '1234567890123456' } }).notify.webhooks;
    expect(webhook).toMatchObject({ timeoutMs: 7000 });
  });

  it('is a number where one belongs in an entry of a mapping, and text elsewhere in it', () => {
    const text =
      'llm: { shell_providers: { mine: { command: "${PORT}", args: ["${PORT}"], concurrency: "${RUNS}" } } }';
    const { mine } = load(text, { env: { ...ENV, RUNS: '3' } }).llm.shellProviders;
    expect(mine).toMatchObject({ command: '9000', args: ['9000'], concurrency: 3 });
  });

  it.each(['9000', 'true', 'a: b'])('is text where text or a list belongs: %s', (value) => {
    const rules = 'confirmation: { rules: [{ action: deny, program: "${V}", reason: r }] }';
    const [rule] = load(rules, { env: { V: value } }).confirmation.rules;
    expect(JSON.stringify(rule)).toContain(value);
  });

  it('is a list where one belongs', () => {
    const text = 'adapter: { environment: { pass: "${LIST}" } }';
    const { childEnvironment } = load(text, { env: { ...ENV, X: '1', Y_2: '2', Z: '3' } });
    expect(childEnvironment).toMatchObject({ X: '1', Y_2: '2' });
    expect(childEnvironment).not.toHaveProperty('Z');
  });

  it('stays text where text belongs, even if it looks like a number', () => {
    const text = 'adapter: { workspace_directory: "${PORT}", environment: { set: { V: "${PORT}" } } }';
    const { adapter, childEnvironment } = load(text, { env: ENV, baseDirectory: '/base' });
    expect([adapter.workspaceDirectory, childEnvironment['V']]).toEqual(['/base/9000', '9000']);
  });

  it('may be a part of a text', () => {
    expect(load('adapter: { workspace_directory: "/w/${A}/x" }', { env: ENV }).adapter.workspaceDirectory).toBe(
      '/w/alpha/x',
    );
  });

  it('is not expanded in a key or in a comment', () => {
    expect(problemsOf('"${A}": 1 # ${NOPE}', { env: ENV })).toEqual([expect.stringContaining('${A}: unknown key')]);
  });

  it('that is not set is an error with its place', () => {
    expect(problemsOf('adapter:\n  shell: ${NOPE}\n')).toEqual([
      '2:10 adapter.shell: needs the environment variable NOPE, which is not set; ${NOPE:-default} would give a default',
    ]);
  });
});
