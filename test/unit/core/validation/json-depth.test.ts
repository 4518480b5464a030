import { describe, expect, it } from 'vitest';

import { isNestedDeeper } from '../../../../src/transports/http/routes.js';

const nested = (levels: number, open: string, close: string) => open.repeat(levels) + close.repeat(levels);

describe('the depth of a JSON text', () => {
  it.each([
    ['arrays', nested(3, '[', ']'), nested(4, '[', ']')],
    ['objects', nested(3, '{"a":', '}'), nested(4, '{"a":', '}')],
    ['both', '{"a":[{"b":1}]}', '{"a":[{"b":[]}]}'],
    ['neighbours that do not nest', `[${Array.from({ length: 50 }, () => '[[1]]').join(',')}]`, '[[],[[[1]]]]'],
    ['brackets in texts', '["[[[[", {"{{{{": "}}"}]', '["]]]]", [[[1]]]]'],
    ['quotes in texts', String.raw`["\"[[[[", "\\", [1]]`, String.raw`["\\\\", [[[1]]]]`],
    ['no brackets at all', '"text"', nested(100_000, '[', '')],
  ])('is counted by %s', (_by, allowed, tooDeep) => {
    expect(isNestedDeeper(allowed, 3)).toBe(false);
    expect(isNestedDeeper(tooDeep, 3)).toBe(true);
  });

  it('of a text that ends inside of a string is that before it', () => {
    expect(isNestedDeeper('[[["[[[[', 3)).toBe(false);
  });
});
