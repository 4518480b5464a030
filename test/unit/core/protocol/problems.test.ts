import { describe, expect, it } from 'vitest';
import { messageOf } from './message-of.js';

import { parsePayload } from '../../../../src/core/protocol/problems.js';
import { type RequestName, requests } from '../../../../src/core/protocol/requests.js';

describe('a message about a wrong payload', () => {
  it.each<[RequestName, unknown, string]>([
    ['execute_command', {}, '`command` is missing: it must be text'],
    ['execute_command', { command: null }, '`command` is missing: it must be text'],
    ['execute_command', { command: 5 }, '`command` must be text; it is 5'],
    ['execute_command', 'ls', 'the payload must be an object; it is "ls"'],
    ['execute_command', { command: 'x', tty: 'yes' }, '`tty` must be true or false; it is "yes"'],
    ['execute_command', { command: 'x', args: '-l' }, '`args` must be a list; it is "-l"'],
    ['execute_command', { command: 'x', args: [[]] }, '`args.0` must be text; it is an empty list'],
    [
      'execute_command',
      { command: 'x', env: { '1': 'a' } },
      '`env.1` is not a variable name: letters, digits and _, not starting with a digit',
    ],
    ['execute_command', { command: 'a\0' }, '`command`: a command cannot contain a NUL character'],
    [
      'execute_command',
      { command: 'x', output: { encoding: 'hex' } },
      '`output.encoding` must be one of "utf8", "base64"; it is "hex"',
    ],
    ['execute_command', { command: 'x', output: { size: 1 } }, 'there is no field "size" in `output`'],
    [
      'execute_command',
      { command: 'x', timeout_ms: 'abc' },
      '`timeout_ms` must be a whole number from 1 to 2147483647; it is "abc"',
    ],
    [
      'execute_command',
      { command: 'x', timeout_ms: 1.5 },
      '`timeout_ms` must be a whole number from 1 to 2147483647; it is 1.5',
    ],
    [
      'execute_command',
      { command: 'x', timeout_ms: NaN },
      '`timeout_ms` must be a whole number from 1 to 2147483647; it is NaN',
    ],
    ['open_session', { limits: { cpu_percent: 0 } }, '`limits.cpu_percent` must be a number above 0; it is 0'],
    [
      'open_session',
      { label: 'x'.repeat(200) },
      `\`label\` must be text of 0 to 128 characters; it is "${'x'.repeat(39)}… (200 characters)`,
    ],
    ['send_input', { data: 'x' }, '`session_id`: give session_id or command_id'],
    [
      'close_session',
      { sesion_id: 'x' },
      '`session_id` is missing: it must be text of 1 to 128 characters; there is no field "sesion_id"; its fields are session_id',
    ],
    [
      'llm_call',
      { messages: [{ role: 'x', content: 'y' }] },
      '`messages.0.role` must be one of "system", "user", "assistant"; it is "x"',
    ],
  ])('%s %j', (name, payload, message) => {
    expect(messageOf(name, payload)).toBe(message);
  });
});

describe('the name `timeout`', () => {
  const parse = (name: 'execute_command' | 'wait_command' | 'llm_call' | 'llm_stream', payload: object) =>
    parsePayload(requests[name].input, name, payload) as { readonly timeout_ms?: number };
  const messages = [{ role: 'user', content: 'x' }];

  it.each([
    ['llm_call', { messages, timeout: 0.3 }, 300],
    ['llm_stream', { messages, timeout: 0.0001 }, 1],
    ['execute_command', { command: 'x', timeout: null, timeout_ms: 5 }, 5],
    ['llm_call', { messages, timeout: 5, timeout_ms: null }, 5000],
    ['execute_command', { command: 'x', timeout: null }, undefined],
  ] as const)('is `timeout_ms` in %s %j', (name, payload, expected) => {
    expect(parse(name, payload).timeout_ms).toBe(expected);
  });

  it.each([
    ['execute_command', { command: 'x', timeout: 60 }],
    ['wait_command', { command_id: 'x', timeout: 0 }],
    ['wait_for', { port: 80, timeout: 5, timeout_ms: 5 }],
  ] as const)('is refused where it may mean seconds or milliseconds: %s %j', (name, payload) => {
    expect(messageOf(name, payload)).toBe('there is no field "timeout": give `timeout_ms`, in milliseconds');
  });

  it('beside `timeout_ms` is an error, and where there is no time-out too', () => {
    expect(messageOf('llm_call', { messages, timeout: 1, timeout_ms: 1 })).toBe(
      '`timeout` and `timeout_ms` mean the same: give only `timeout_ms`',
    );
    expect(messageOf('list_sessions', { timeout: 1 })).toBe('there is no field "timeout"; its fields are none');
  });
});
