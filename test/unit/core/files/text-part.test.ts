import { describe, expect, it } from 'vitest';

import { numberLines, textPart } from '../../../../src/core/file-edit.js';

const EURO = Buffer.from('a€b');

describe('textPart', () => {
  it('cuts to whole characters on both sides', () => {
    expect(textPart(EURO.subarray(2), false, true)).toEqual({ text: 'b', skipped: 2, length: 1 });
    expect(textPart(EURO.subarray(0, 3), true, false)).toEqual({ text: 'a', skipped: 0, length: 1 });
    expect(textPart(EURO, true, true)).toEqual({ text: 'a€b', skipped: 0, length: 5 });
  });

  it('keeps a byte order mark', () => {
    expect(textPart(Buffer.from('\uFEFFa'), true, true).text).toBe('\uFEFFa');
  });

  it.each([
    ['NUL', Buffer.from('a\0b')],
    ['bytes that are not UTF-8', Buffer.from([0x61, 0xff, 0x62])],
    ['a character that the end of the file cuts', EURO.subarray(0, 3)],
  ])('refuses %s', (_, bytes) => {
    expect(() => textPart(bytes, true, true)).toThrow(expect.objectContaining({ code: 'NOT_TEXT' }) as Error);
  });
});

describe('numberLines', () => {
  it('numbers each line, and no line after the last end', () => {
    expect(numberLines('a\nb\n', 9)).toBe('9\ta\n10\tb\n');
    expect(numberLines('a\n\nb', 1)).toBe('1\ta\n2\t\n3\tb');
    expect(numberLines('', 1)).toBe('');
  });
});
