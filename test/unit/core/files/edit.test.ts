import { describe, expect, it } from 'vitest';

import { replaceText } from '../../../../src/core/file-edit.js';
import { unifiedDiff } from '../../../../src/core/unified-diff.js';

/** The diff of an edit. */
function diffOf(content: string, oldText: string, newText: string, maxCharacters = 10_000) {
  const { positions } = replaceText(content, oldText, newText, true);
  return unifiedDiff({ path: 'f', content, oldText, newText, positions }, maxCharacters);
}

const linesTo = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');

describe('replaceText', () => {
  it('replaces the only occurrence, or all', () => {
    expect(replaceText('a b a', 'b', 'c', false).content).toBe('a c a');
    expect(replaceText('a b a', 'a', '$&', true).content).toBe('$& b $&');
    expect(replaceText('aaa', 'aa', 'b', true)).toEqual({ content: 'ba', positions: [0] });
  });

  it.each([
    ['is not there', 'a\n', 'b', 'TEXT_NOT_FOUND', /not in the file/],
    ['has other line ends', 'a\r\nb\r\n', 'a\nb', 'TEXT_NOT_FOUND', /\\r\\n/],
    ['has line numbers', 'a\nb\n', '1\ta\n2\tb', 'TEXT_NOT_FOUND', /line numbers/],
    ['has other spaces', 'if (x) {\n\treturn;\n}', 'if (x) {\n  return;', 'TEXT_NOT_FOUND', /only spaces/],
    ['is there twice', 'x\ny\nx\n', 'x', 'TEXT_NOT_UNIQUE', /2 times \(lines 1, 3\)/],
    ['is the new text', 'new', 'new', 'INVALID_REQUEST', /nothing would change/],
  ])('refuses a text that %s', (_, content, oldText, code, message) => {
    const edit = () => replaceText(content, oldText, 'new', false);
    expect(edit).toThrow(message);
    expect(edit).toThrow(expect.objectContaining({ code }) as Error);
  });
});

describe('unifiedDiff', () => {
  it('shows a changed line with three lines around it', () => {
    expect(diffOf(linesTo(10), 'line 5', 'five').diff).toBe(
      '--- f\n+++ f\n@@ -2,7 +2,7 @@\n line 2\n line 3\n line 4\n-line 5\n+five\n line 6\n line 7\n line 8\n',
    );
  });

  it('leaves out lines of the texts that stay', () => {
    expect(diffOf('a\nb\nc\n', 'a\nb\nc', 'a\nB\nb\nc').diff).toBe('--- f\n+++ f\n@@ -1,3 +1,4 @@\n a\n+B\n b\n c\n');
  });

  it('has a hunk for each place, and numbers after the lines that came before', () => {
    const content = `x\n${linesTo(20)}x\n`;
    const { diff } = diffOf(content, 'x', 'y\nz');
    expect(diff).toContain('@@ -1,4 +1,5 @@\n-x\n+y\n+z\n line 1\n');
    expect(diff).toContain('@@ -19,4 +20,5 @@\n line 18\n line 19\n line 20\n-x\n+y\n+z\n');
  });

  it('joins places on one line, and places whose surroundings touch', () => {
    expect(diffOf('a a\nb\n', 'a', 'c').diff).toBe('--- f\n+++ f\n@@ -1,2 +1,2 @@\n-a a\n+c c\n b\n');
    expect(diffOf('a\nb\nb\na\n', 'a', 'c').diff).toBe('--- f\n+++ f\n@@ -1,4 +1,4 @@\n-a\n+c\n b\n b\n-a\n+c\n');
  });

  it('shows that lines went', () => {
    expect(diffOf('a\nb\nc\n', 'b\n', '').diff).toBe('--- f\n+++ f\n@@ -1,3 +1,2 @@\n a\n-b\n c\n');
  });

  it('is cut after a line when it is too long', () => {
    const { diff, isTruncated } = diffOf(linesTo(10), 'line 5', 'five', 40);
    expect(isTruncated).toBe(true);
    expect(diff.length).toBeLessThanOrEqual(41);
    expect(diffOf(linesTo(3), 'line 1', 'one').isTruncated).toBe(false);
  });
});
