import { describe, expect, it } from 'vitest';

import { compileGlob, isIgnored, parseIgnoreFile } from '../../../../src/core/glob.js';
import { HANG_MS } from '../../../support/hang.js';

describe('compileGlob', () => {
  it.each([
    ['*.c', ['a.c', 'src/a.c', '.c'], ['a.cc', 'a.c/b']],
    ['a.c', ['a.c', 'src/a.c'], ['ba.c', 'a-c']],
    ['/a.c', ['a.c'], ['src/a.c']],
    ['src/*.c', ['src/a.c'], ['src/deep/a.c', 'a.c']],
    ['**/test-*', ['test-a', 'x/test-a', 'x/y/test-a'], ['x/a-test']],
    ['src/**/a.c', ['src/a.c', 'src/x/y/a.c'], ['srca.c']],
    ['src/**', ['src/a', 'src/a/b'], ['src']],
    ['{a,b}?.{c,h}', ['ax.c', 'by.h'], ['a.c', 'cx.c']],
    ['[a-c]x[!0-9]', ['axy', 'cx_'], ['dxy', 'ax1']],
    ['a\\*b', ['a*b'], ['axb']],
    ['a(b)+.$', ['a(b)+.$'], ['abb']],
    ['x,y}', ['x,y}'], ['x']],
    ['ä*', ['äb'], ['ab']],
  ] as const)('%s', (glob, matching, others) => {
    const matches = compileGlob(glob);
    expect(matching.filter((path) => !matches(path))).toEqual([]);
    expect(others.filter((path) => matches(path))).toEqual([]);
  });

  it('takes no longer for a glob that would backtrack', () => {
    const matches = compileGlob(`${'*a'.repeat(30)}b`);
    const begin = performance.now();
    expect(matches('a'.repeat(200))).toBe(false);
    expect(performance.now() - begin).toBeLessThan(HANG_MS);
  });
});

describe('isIgnored', () => {
  const fileWith = (text: string, below = '', above = '') => ({ below, above, rules: parseIgnoreFile(text) });
  const ignored = (path: string, text: string, isDirectory = false) => isIgnored(path, isDirectory, [fileWith(text)]);

  it.each([
    ['x.log', '*.log', true],
    ['deep/x.log', '*.log', true],
    ['deep/out', '/out', false],
    ['out', '/out', true],
    ['x.log', '*.log\n!x.log', false],
    ['# x', '# x', false],
    ['#x', '\\#x', true],
    ['a/b/c', 'a/**/c', true],
    ['name ', 'name\\ ', true],
    ['name', 'name   ', true],
    ['x', '', false],
  ])('%j by %j: %s', (path, text, expected) => {
    expect(ignored(path, text)).toBe(expected);
  });

  it('a rule with a slash at its end is about directories alone', () => {
    expect(ignored('build', 'build/')).toBe(false);
    expect(ignored('build', 'build/', true)).toBe(true);
  });

  it('a deeper file decides over one above it, and sees paths from its own directory', () => {
    const files = [fileWith('*.log\n/sub/out'), fileWith('!kept.log\n/out', 'sub/')];
    expect(isIgnored('sub/kept.log', false, files)).toBe(false);
    expect(isIgnored('sub/x.log', false, files)).toBe(true);
    expect(isIgnored('sub/out', false, [fileWith('/out', 'sub/')])).toBe(true);
    expect(isIgnored('out', false, [fileWith('/top/out', '', 'top/')])).toBe(true);
  });
});
