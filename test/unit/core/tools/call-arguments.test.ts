import { describe, expect, it } from 'vitest';

import { parseArguments } from '../../../../src/core/tools/tool.js';
import { findTool } from '../../../../src/core/tools/tools.js';

const parse = (name: string, args: unknown) => parseArguments(findTool(name)!, args);

describe('arguments whose type is not the one of the schema', () => {
  it.each([
    ['a number as text', 'run_command', { command: 'ls', timeout_ms: '5000' }, { timeout_ms: 5000 }],
    ['a boolean as text', 'execute_command', { command: 'ls', background: 'true' }, { background: true }],
    ['the other boolean', 'execute_command', { command: 'ls', background: 'false' }, { background: false }],
    ['a list as JSON', 'run_command', { command: 'ls', args: '["-l", "a b"]' }, { args: ['-l', 'a b'] }],
    ['a map as JSON', 'run_command', { command: 'ls', env: '{"V":"1"}' }, { env: { V: '1' } }],
    [
      'numbers in a map of texts',
      'run_command',
      { command: 'ls', env: { PORT: 8080, ON: true } },
      { env: { PORT: '8080', ON: 'true' } },
    ],
    ['numbers in a list of texts', 'run_command', { command: 'sleep', args: [1] }, { args: ['1'] }],
    [
      'all in one',
      'run_command',
      { command: 'x', args: '[1]', env: '{"A":2}', timeout_ms: '7' },
      { args: ['1'], env: { A: '2' }, timeout_ms: 7 },
    ],
    ['a number that is a text stays one', 'run_command', { command: '5000' }, { command: '5000' }],
    ['a word that is a boolean stays a text', 'run_command', { command: 'true' }, { command: 'true' }],
    ['JSON that is a command stays a text', 'run_command', { command: '["a"]' }, { command: '["a"]' }],
    ['JSON on standard input stays a text', 'run_command', { command: 'jq', stdin: '{"a":1}' }, { stdin: '{"a":1}' }],
    ['a number where text is wanted', 'run_command', { command: 5000 }, { command: '5000' }],
    ['an offset as text', 'read_output', { command_id: 'c', offset: '10' }, { offset: 10 }],
    ['null for an optional one', 'run_command', { command: 'ls', cwd: null }, { command: 'ls' }],
  ])('%s', (_, name, args, parsed) => {
    expect(parse(name, args)).toMatchObject(parsed);
  });

  it.each([
    ['a list that is no JSON', { command: 'ls', args: '-l' }, 'args'],
    ['a map where a list is wanted', { command: 'ls', args: '{"a":1}' }, 'args'],
    ['a number with a unit', { command: 'ls', timeout_ms: '5s' }, 'timeout_ms'],
    ['a hexadecimal number', { command: 'ls', timeout_ms: '0x10' }, 'timeout_ms'],
    ['an empty text', { command: 'ls', timeout_ms: '' }, 'timeout_ms'],
    ['a fraction', { command: 'ls', timeout_ms: '1.5' }, 'timeout_ms'],
    ['a list as command', { command: ['ls'] }, 'command'],
    ['a field that there is not', { command: 'ls', cmd: 'ls' }, 'cmd'],
    ['no object', 'ls', 'run_command'],
    ['a list', ['ls'], 'run_command'],
  ])('%s is refused, by its name', (_, args, field) => {
    expect(() => parse('run_command', args)).toThrow(field);
  });
});

describe('the time limit', () => {
  it.each(['run_command', 'execute_command', 'wait_command'])('%s takes timeout and timeout_ms', (name) => {
    const required = name === 'wait_command' ? { command_id: 'c' } : { command: 'ls' };
    expect(parse(name, { ...required, timeout: 250 })).toMatchObject({ timeout_ms: 250 });
    expect(parse(name, { ...required, timeout: '250' })).toMatchObject({ timeout_ms: 250 });
    expect(parse(name, { ...required, timeout: '250', timeout_ms: 250 })).toMatchObject({ timeout_ms: 250 });
    expect(() => parse(name, { ...required, timeout: 1, timeout_ms: 2 })).toThrow('mean the same');
  });

  it('has one name in every schema', () => {
    for (const name of ['run_command', 'execute_command', 'wait_command']) {
      expect(Object.keys(findTool(name)!.schema.properties)).toContain('timeout_ms');
      expect(Object.keys(findTool(name)!.schema.properties)).not.toContain('timeout');
    }
  });

  it('no tool without one takes it', () => {
    expect(() => parse('close_session', { session_id: 's', timeout: 1 })).toThrow('there is no field "timeout"');
  });
});
