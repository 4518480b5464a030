import { describe, expect, it } from 'vitest';

import { alignColumns } from '../../../../src/cli/console/style.js';

describe('columns', () => {
  it.each([
    ['plain text', ['ab', 'x'], ['a', 'x'], ['ab  x', 'a   x']],
    ['wide characters, of two columns each', ['你好', 'x'], ['abcd', 'x'], ['你好  x', 'abcd  x']],
    ['emoji and combining characters', ['👩‍👩‍👧', 'x'], ['e\u0301e', 'x'], ['👩‍👩‍👧  x', 'e\u0301e  x']],
  ])('line up with %s', (_what, first, second, lines) => {
    expect(alignColumns([first, second])).toEqual(lines);
  });
});
