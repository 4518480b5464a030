import { describe, expect, test } from 'vitest';

import {
  byteLength,
  randomCommandId,
  textOrBytes,
  wholeCharacters,
  withPlainBytes,
} from '../../../src/client/runtime.js';
import { executeRequest } from '../../../src/client/options.js';
import { checkSize } from '../../../src/client/connection/connection.js';
import { requests } from '../../../src/core/protocol/requests.js';

describe('attachments', () => {
  const expected = new Uint8Array([1, 2, 255]);

  test.each([
    { from: 'a browser’s ArrayBuffer', data: expected.slice().buffer },
    { from: 'Node’s Buffer', data: Buffer.from([1, 2, 255]) },
    { from: 'a part of a larger Buffer', data: Buffer.from([9, 1, 2, 255, 9]).subarray(1, 4) },
    { from: 'a Uint8Array', data: expected.slice() },
  ])('from $from are plain Uint8Arrays', ({ data }) => {
    const message = withPlainBytes({ offset: 3, data }) as { data: Uint8Array };
    expect(message).toEqual({ offset: 3, data: expected });
    expect(message.data.constructor).toBe(Uint8Array);
  });

  test.each([[{ data: 'text' }], [{ session_id: 's' }], [undefined], [null], ['text']])(
    'in %j there are none, and it stays as it is',
    (message) => {
      expect(withPlainBytes(message)).toBe(message);
    },
  );
});

describe('bytes', () => {
  test.each([
    ['', 0],
    ['abc', 3],
    ['é漢😀', 9],
    [new Uint8Array([0xff, 0]), 2],
  ])('of %j are %i', (data, size) => {
    expect(byteLength(data)).toBe(size);
  });

  test('become text where they are UTF-8, a byte order mark included', () => {
    expect(textOrBytes(new TextEncoder().encode('\uFEFFé'))).toBe('\uFEFFé');
    expect(textOrBytes(new Uint8Array([0x61, 0xff]))).toEqual(new Uint8Array([0x61, 0xff]));
  });

  test('without the unfinished character at their end', () => {
    const bytes = new TextEncoder().encode('a漢');
    expect(wholeCharacters(bytes)).toHaveLength(4);
    expect(wholeCharacters(bytes.subarray(0, 3))).toHaveLength(1);
  });
});

describe('the request for a command', () => {
  test('has every option under its name on the wire, and passes the daemon’s own check', () => {
    const request = executeRequest(
      'printf',
      {
        args: ['x'],
        cwd: '/tmp',
        env: { A: 'b' },
        stdin: 'in',
        timeoutMs: 1,
        noOutputTimeoutMs: 2,
        tty: true,
        background: true,
        stream: true,
        output: { maxSize: 9, beginSize: 4, endSize: 5, encoding: 'base64', stripAnsi: true, collapseCr: true },
      },
      { commandId: 'c1', sessionId: 's1' },
    );
    expect(requests.execute_command.input.parse(request)).toEqual({
      command: 'printf',
      command_id: 'c1',
      session_id: 's1',
      args: ['x'],
      cwd: '/tmp',
      env: { A: 'b' },
      stdin: 'in',
      timeout_ms: 1,
      no_output_timeout_ms: 2,
      tty: true,
      background: true,
      stream: true,
      output: { max_size: 9, begin_size: 4, end_size: 5, encoding: 'base64', strip_ansi: true, collapse_cr: true },
    });
  });

  test('leaves out what is not given', () => {
    const request = executeRequest('true', {}, { commandId: 'c1', sessionId: null });
    expect(JSON.parse(JSON.stringify(request))).toEqual({ command: 'true', command_id: 'c1' });
  });

  test('has a new id each time, one that the protocol takes', () => {
    const ids = Array.from({ length: 100 }, randomCommandId);
    expect(new Set(ids)).toHaveLength(100);
    for (const id of ids) expect(requests.wait_command.input.safeParse({ command_id: id }).success).toBe(true);
  });
});

describe('the size of a request', () => {
  test.each([
    { title: 'plain text below the bound', payload: { command: 'x'.repeat(700) }, fits: true },
    { title: 'plain text above it', payload: { command: 'x'.repeat(1100) }, fits: false },
    { title: 'text that JSON makes longer', payload: { command: '\u0001'.repeat(200) }, fits: false },
    { title: 'long arguments', payload: { command: 'x', args: ['y'.repeat(600), 'z'.repeat(600)] }, fits: false },
    { title: 'long variables', payload: { command: 'x', env: { A: 'y'.repeat(1200) } }, fits: false },
    { title: 'nothing but numbers and nulls', payload: { a: 1, b: null, c: undefined }, fits: true },
  ])('is checked: $title', ({ payload, fits }) => {
    const check = () => {
      checkSize('execute_command', payload, 1024);
    };
    if (fits) expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE' }));
  });

  test('is not bounded before the daemon has told its bound', () => {
    expect(() => {
      checkSize('execute_command', { command: 'x'.repeat(5_000_000) }, Infinity);
    }).not.toThrow();
  });
});
