import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { AdapterError } from '../../../../src/core/errors.js';
import {
  compileLinePattern,
  type LinePattern,
  LineSearch,
  MAX_LINE_PART_BYTES,
} from '../../../../src/core/output/line-search.js';

const never = () => false;

/** Searches a whole output in one piece. */
function searchAll(output: string | Buffer, pattern: LinePattern, limit = 100, offset = 0): LineSearch {
  const search = new LineSearch(compileLinePattern(pattern), limit, offset);
  search.take(Buffer.from(output), never);
  search.takeLast();
  return search;
}

describe('a search in lines', () => {
  it.each<[string, LinePattern, string, readonly [offset: number, line: number, text: string][]]>([
    ['plain text', { pattern: 'b.' }, 'a\nb.\nbc', [[2, 2, 'b.']]],
    [
      'a regular expression',
      { pattern: 'b.', regex: true },
      'a\nb.\nbc',
      [
        [2, 2, 'b.'],
        [5, 3, 'bc'],
      ],
    ],
    ['whatever its case', { pattern: 'ÄB', ignore_case: true }, 'x\näb\n', [[2, 2, 'äb']]],
    ['no special characters without regex', { pattern: '(B', ignore_case: true }, '(b\n', [[0, 1, '(b']]],
    ['anchors at the ends of lines', { pattern: '^b$', regex: true }, 'ab\nb\r\nbc\n', [[3, 2, 'b']]],
    [
      'each line once',
      { pattern: 'a' },
      'aaa\naa',
      [
        [0, 1, 'aaa'],
        [4, 2, 'aa'],
      ],
    ],
    ['empty lines count', { pattern: 'x' }, '\n\nx\n', [[2, 3, 'x']]],
  ])('finds %s', (_what, pattern, output, expected) => {
    const { matches } = searchAll(output, pattern);
    expect(matches.map(({ offset, line, text }) => [offset, line, text])).toEqual(expected);
  });

  it('finds in bytes that are not UTF-8, with exact offsets', () => {
    const { matches } = searchAll(Buffer.from([0xff, 0xfe, 10, 0xff, 0x41]), { pattern: 'A' });
    expect(matches).toEqual([{ offset: 3, line: 2, text: '\uFFFDA' }]);
  });

  it('stops at the limit, after the last line that it returns', () => {
    const search = searchAll('ab\nab\nab\n', { pattern: 'a' }, 2, 1000);
    expect(search).toMatchObject({ offset: 1006, lines: 2, isFull: true });
    expect(search.matches).toHaveLength(2);
  });

  it('searches an incomplete last line, which stays unsearched for the next call', () => {
    const search = searchAll('one\ntwo', { pattern: 'two' });
    expect(search.matches).toEqual([{ offset: 4, line: 2, text: 'two' }]);
    expect(search).toMatchObject({ offset: 4, lines: 1 });
  });

  it('shows the part of a long line around the match, and returns the line once', () => {
    const line = `${'é'.repeat(MAX_LINE_PART_BYTES)}needle needle${'x'.repeat(1000)}`;
    const { matches, lines } = searchAll(`${line}\nneedle\n`, { pattern: 'needle' });
    expect(lines).toBe(2);
    expect(matches).toHaveLength(2);
    expect(matches[0]).toMatchObject({ offset: 2 * MAX_LINE_PART_BYTES, line: 1 });
    expect(matches[0]?.text).toMatch(/^needle needlex+$/);
    expect(matches[0]?.text).toHaveLength(400);
    expect(matches[1]).toMatchObject({ line: 2, text: 'needle' });
  });

  it('says what is wrong with an expression', () => {
    const compile = () => compileLinePattern({ pattern: '(a', regex: true });
    expect(compile).toThrow(AdapterError);
    expect(compile).toThrow(/^`pattern` is no regular expression of RE2: .*missing closing \)/);
    expect(() => compileLinePattern({ pattern: 'a(?=b)', regex: true })).toThrow(/no regular expression of RE2/);
  });

  it('finds the same however the output is cut into pieces, and however often it pauses', () => {
    const output = fc.string({ unit: fc.constantFrom('a', 'b', '\n', 'é', '\r') });
    fc.assert(
      fc.property(output, fc.array(fc.nat(8)), (text, sizes) => {
        const bytes = Buffer.from(text);
        const search = new LineSearch(compileLinePattern({ pattern: 'a' }), 100, 0);
        let from = 0;
        for (const size of [...sizes, bytes.length]) {
          let isDone = search.take(bytes.subarray(from, from + size), () => true);
          while (!isDone && !search.isFull) isDone = search.take(new Uint8Array(), () => true);
          from = Math.min(bytes.length, from + size);
        }
        search.takeLast();
        const expected = text.split('\n').flatMap((line, index) => (line.includes('a') ? [index + 1] : []));
        expect(search.matches.map(({ line }) => line)).toEqual(expected.slice(0, 100));
      }),
    );
  });
});
