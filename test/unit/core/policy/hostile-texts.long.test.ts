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

it('bounds what variables of variables cost', () => {
  const chain = Array.from({ length: 800 }, (_, index) => `v${index + 1}=$v${index}$v${index}`).join('\n');
  const start = performance.now();
  expect(verdictOn(`v0=aaaaaaaa\n${chain}\ntouch $v800`).action).toBe('confirm');
  expect(performance.now() - start).toBeLessThan(HANG_MS);
});
