import { describe, expect, it } from 'vitest';

import { fromJsonBytes, withJsonBytes } from '../../../../src/core/rest.js';
import { requests } from '../../../../src/core/protocol/requests.js';

const BYTES = Uint8Array.from([0, 255, 10]);
const JSON_BYTES = { base64: 'AP8K' };

describe('withJsonBytes', () => {
  it.each([
    [BYTES, JSON_BYTES],
    [
      { data: BYTES, size: 3 },
      { data: JSON_BYTES, size: 3 },
    ],
    [
      [{ data: BYTES }, 1],
      [{ data: JSON_BYTES }, 1],
    ],
  ])('%o becomes %o', (value, expected) => {
    expect(withJsonBytes(value)).toEqual(expected);
  });

  it('leaves a value without bytes as it is', () => {
    const value = { list: [{ text: 'x' }, null], number: 1 };
    expect(withJsonBytes(value)).toBe(value);
  });
});

describe('fromJsonBytes', () => {
  const read = (payload: unknown) => fromJsonBytes(requests.send_input.input, payload);

  it('takes bytes in a field that has them', () => {
    expect(read({ command_id: 'c', data: JSON_BYTES })).toEqual({ command_id: 'c', data: BYTES });
    expect(read({ data: { base64: '' } })).toEqual({ data: new Uint8Array() });
  });

  it.each([
    ['text', { data: 'AP8K' }],
    ['what is no base64', { data: { base64: 'A?' } }],
    ['what has more fields', { data: { base64: 'AP8K', more: 1 } }],
    ['a field that takes no bytes', { command_id: JSON_BYTES }],
    ['an unknown field', { other: JSON_BYTES }],
    ['a list', [JSON_BYTES]],
    ['nothing', null],
  ])('leaves %s to the schema', (_, payload) => {
    expect(read(payload)).toEqual(payload);
  });

  it('leaves the variables of an environment alone', () => {
    const payload = { command: 'x', env: { base64: 'AP8K' } };
    expect(fromJsonBytes(requests.execute_command.input, payload)).toBe(payload);
  });
});
