import { describe, expect, it } from 'vitest';

import { verdictOn } from './support.js';

const SIZE = 32 * 1024;

describe('beyond a limit, a command is not called harmless', () => {
  it.each([
    ['length', 'a'.repeat(SIZE + 1)],
    ['substitutions within each other', `${'$('.repeat(12)}ls${')'.repeat(12)}`],
    ['texts within each other', `${'eval '.repeat(14)}ls`],
    ['commands', 'ls;'.repeat(201)],
    ['blanks in a row', `ls${' '.repeat(81)}x`],
    ['empty lines in a row', `ls${'\n'.repeat(90)}x`],
    ['here-documents', 'cat <<E\nE\n'.repeat(65)],
    ['redirections', `ls ${'>a '.repeat(33)}`],
  ])('of %s', (_what, text) => {
    expect(verdictOn(text)).toMatchObject({ action: 'confirm', class: 'obfuscated' });
  });

  it.each([
    ['length', `echo ${'a'.repeat(SIZE - 10)}`],
    ['substitutions within each other', `${'echo $('.repeat(9)}ls${')'.repeat(9)}`],
    ['commands', 'ls;'.repeat(200)],
    ['blanks in a row', `ls${' '.repeat(80)}x`],
    ['here-documents', 'cat <<E\nE\n'.repeat(64)],
    ['redirections', `ls ${'>a '.repeat(32)}`],
    ['emoji', 'echo "✔️ done 👨‍👩‍👧 ünï"'],
  ])('within the limit of %s it is judged', (_what, text) => {
    expect(verdictOn(text).action).toBe('allow');
  });
});

describe('texts that show another command than the shell reads', () => {
  it.each([
    ['NUL', 'ls\0'],
    ['backspace', 'rm x\b\b\b\bls  '],
    ['escape', 'echo \x1b[2K'],
    ['carriage return', 'rm x\rls  '],
    ['Windows line ends', 'ls\r\n'],
    ['right-to-left override', 'echo \u202e'],
    ['zero-width space', 'ls\u200b'],
    ['zero-width joiner in a word', 'l\u200ds'],
    ['no-break space', 'ls\u00a0x'],
    ['line separator', 'ls\u2028x'],
    ['byte-order mark', '\ufeffls'],
    ['tag characters', 'ls \u{e0041}'],
    ['a lone surrogate', 'ls \ud800'],
    ['C1 control', 'ls \u009b'],
  ])('%s', (_what, text) => {
    expect(verdictOn(text)).toMatchObject({ action: 'confirm', class: 'obfuscated' });
  });
});
