import { describe, expect, it } from 'vitest';

import { verdictOn } from './support.js';
import { HANG_MS } from '../../../support/hang.js';

const SIZE = 32 * 1024;

/** Fills a text to just below the longest that is parsed. */
const fill = (part: string, before = '', after = ''): string =>
  before + part.repeat(Math.floor((SIZE - before.length - after.length) / part.length)) + after;

/** Texts that make a parser or a judge work hard. */
const HOSTILE: Readonly<Record<string, string>> = {
  'open substitutions': fill('$('),
  'closed substitutions': '$('.repeat(SIZE / 3) + ')'.repeat(SIZE / 3),
  'quoted substitutions': fill('"$('),
  'process substitutions': fill('<('),
  'deep substitutions around many words': `${'$('.repeat(15)}${'a '.repeat(SIZE / 2 - 50)}${')'.repeat(15)}`,
  backticks: fill('`'),
  'open arithmetic': fill('$(('),
  'long arithmetic': fill('+x', '((x', '))'),
  'nested parameters': fill('${x:-'),
  'open parentheses': fill('('),
  'open groups': fill('{ '),
  'open functions': fill('f(){ '),
  'open conditions': fill('if '),
  'open cases': fill('case a in a) '),
  'open tests': fill('( ', '[[ '),
  'many commands': fill('a;'),
  'a long pipeline': fill('a|', '', 'a'),
  'a long list': fill('a&&', '', 'a'),
  'many lines': fill('a\n'),
  'many words': fill('a ', 'rm '),
  'many commands of many words': fill(`rm ${'x '.repeat(900)};`),
  'many words that read like commands': fill('rm ', 'no-such-tool '),
  'many outputs': fill('-o a ', 'no-such-tool '),
  'functions that feed functions': fill('f(){ f<<<x;f<<<x; }\n', '', 'f<<<x'),
  'many assignments': fill('a=1 '),
  'many variables': fill('a=1;', '', 'echo $a'),
  'many redirections': fill('>a ', 'ls '),
  'many here-documents': fill('cat <<E;'),
  'a brace bomb': fill('{a,b}', 'echo '),
  'nested braces': fill('{a,'),
  'a long sequence': 'echo {1..999999999}',
  'many stars': fill('*a', 'rm '),
  'many directories of stars': fill('/*', 'cat '),
  'open patterns': fill('*(', 'echo '),
  'many brackets': fill('['),
  'a deep path': fill('a/', 'rm '),
  'many wrappers': fill('env ', '', 'rm x'),
  'many evals': fill('eval ', '', 'rm x'),
  'a long script of sed': fill('s/a/b/;', "sed '", "'"),
  'a script of sed that does not end': fill('/', "sed '", "'"),
  'a long program of awk': fill('print ', "awk '", "'"),
  'a chain of aliases': `a0\n${Array.from({ length: 1000 }, (_, index) => `alias a${index}=a${index + 1}`).join('\n')}\na0`,
  'a million characters': 'a'.repeat(1_000_000),
  'a million substitutions': '$('.repeat(500_000),
  'a million blanks': `echo${' '.repeat(1_000_000)}x`,
  'a million lines': 'a\n'.repeat(500_000),
};

describe.each(Object.entries(HOSTILE))('%s', (what, text) => {
  it('hide nothing that stands before or behind, and are judged in time', () => {
    const start = performance.now();
    expect(verdictOn(`rm x\n${text}`).action).not.toBe('allow');
    expect(performance.now() - start, what).toBeLessThan(HANG_MS);
    expect(verdictOn(`${text}\nrm x`).action).not.toBe('allow');
  });
});

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
