import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';

import { collapseCr } from '../../../../src/core/output/ansi.js';
import { ESC } from './byte-streams.js';

const percentages = Array.from({ length: 100 }, (_, i) => `\r${String(i + 1).padStart(3)}%`).join('');

describe('collapseCr', () => {
  test.each([
    { text: 'a\nb', shown: 'a\nb', title: 'text without carriage returns' },
    { text: `${percentages}\n`, shown: '100%\n', title: 'a progress display ends at its last state' },
    { text: 'one\r\ntwo\r\n', shown: 'one\r\ntwo\r\n', title: 'CR LF stays' },
    { text: 'one\r\r\n', shown: 'one\r\n', title: 'CR CR LF is a line end too' },
    { text: 'old\rnew\r\nx', shown: 'new\r\nx', title: 'an overwritten line before CR LF' },
    { text: 'abcdef\rXY\n', shown: 'XYcdef\n', title: 'a shorter text leaves the rest' },
    { text: 'a\rb\rc\nd\re', shown: 'c\ne', title: 'each line for itself' },
    { text: 'working\r', shown: 'working', title: 'a CR at the end of the text' },
    { text: '\r', shown: '', title: 'a CR alone' },
    { text: '\n\r\n', shown: '\n\r\n', title: 'empty lines' },
    { text: '😀😀\ré', shown: 'é😀', title: 'a code point takes one column' },
    { text: `long text\r${ESC}[Kdone\n`, shown: 'done\n', title: 'erase to the end of the line' },
    { text: `long text\r${ESC}[2Kdone\n`, shown: 'done\n', title: 'erase line' },
    { text: `abc${ESC}[2Kd\r\n`, shown: `abc${ESC}[2Kd\r\n`, title: 'no lone CR, nothing changed' },
    { text: `x\rabc${ESC}[2Kd\n`, shown: '   d\n', title: 'the cursor stays where it is when a line is erased' },
    { text: `x\rabc${ESC}[2K${ESC}[K\n`, shown: '\n', title: 'an erase beyond the end adds nothing' },
    { text: `abcdef\rab${ESC}[0K\n`, shown: 'ab\n', title: 'an erase in the middle of a line' },
    { text: `${ESC}[32m50%${ESC}[0m\r${ESC}[32m99%${ESC}[0m\n`, shown: '99%\n', title: 'colours take no columns' },
    { text: `${ESC}[1mbold${ESC}[0m\na\rb`, shown: `${ESC}[1mbold${ESC}[0m\nb`, title: 'other lines keep theirs' },
  ])('$title', ({ text, shown }) => {
    expect(collapseCr(text)).toBe(shown);
  });

  it('shows what a terminal of unlimited width shows', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\r', '\n'), maxLength: 60, size: 'max' });
    const showLine = (line: string) => {
      const cells: string[] = [];
      let column = 0;
      for (const letter of line) {
        if (letter === '\r') column = 0;
        else cells[column++] = letter;
      }
      return cells.join('');
    };
    fc.assert(
      fc.property(letters, (text) => {
        const shown = collapseCr(text);
        expect(shown.replaceAll('\r', '')).toBe(text.split('\n').map(showLine).join('\n'));
        expect(shown.replaceAll('\r\n', '\n')).not.toContain('\r');
        expect(collapseCr(shown)).toBe(shown);
      }),
    );
  });
});
