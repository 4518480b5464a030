import { describe, expect, it, test } from 'vitest';

import { type OutputLimits, OutputWindow, type RenderOptions } from '../../../../src/core/output/output-window.js';
import { BEL, ESC, nodeScanner, ST, toBytes } from './byte-streams.js';

const RAW: RenderOptions = { encoding: 'utf8', stripAnsi: false, collapseCr: false, hint: 'ask' };

const windowOf = (output: string | Uint8Array, limits: OutputLimits) => {
  const window = new OutputWindow(limits, nodeScanner);
  window.push(typeof output === 'string' ? toBytes(output) : output);
  return window;
};

const render = (output: string | Uint8Array, limits: OutputLimits, options: Partial<RenderOptions> = {}) =>
  windowOf(output, limits).render({ ...RAW, ...options }).text;

describe('an output up to the limit', () => {
  const limits = { maxSize: 10, beginSize: 3, endSize: 4 };

  test.each(['', 'a', '0123456789', 'é漢😀é漢😀é漢😀é', '\ufeffbom', 'a\0b\n', '  x\r\n\ty'])(
    '%j is untouched',
    (text) => {
      expect(windowOf(text, limits).render(RAW)).toEqual({ text, truncated: false });
    },
  );

  it('is given again, and more of it, while it grows', () => {
    const window = new OutputWindow(limits, nodeScanner);
    window.push(toBytes('one '));
    expect(window.render(RAW).text).toBe('one ');
    expect(window.render(RAW).text).toBe('one ');
    window.push(toBytes('two'));
    expect(window.render(RAW).text).toBe('one two');
    window.push(toBytes(' three'));
    expect(window.render(RAW)).toEqual({
      text: 'one\n[... 6 of 13 characters left out; ask ...]\nhree',
      truncated: true,
    });
  });
});

describe('a longer output', () => {
  test.each([
    {
      output: '0123456789X',
      text: '012\n[... 4 of 11 characters left out; ask ...]\n789X',
      title: 'beginning and end',
    },
    {
      output: '01\n3456789X',
      text: '01\n[... 4 of 11 characters left out; ask ...]\n789X',
      title: 'a line end suffices',
    },
    {
      output: '😀'.repeat(11),
      text: '😀😀😀\n[... 4 of 11 characters left out; ask ...]\n😀😀😀😀',
      title: 'whole characters',
    },
    {
      output: '',
      repeat: 1_288_895,
      text: 'xxx\n[... 1,288,888 of 1,288,895 characters left out; ask ...]\nxxxx',
      title: 'large',
    },
  ])('comes as $title', ({ output, repeat, text }) => {
    expect(render(repeat ? 'x'.repeat(repeat) : output, { maxSize: 10, beginSize: 3, endSize: 4 })).toBe(text);
  });

  test.each([
    { limits: { maxSize: 0, beginSize: 0, endSize: 0 }, text: '[... 5 of 5 characters left out; ask ...]\n' },
    { limits: { maxSize: 2, beginSize: 0, endSize: 2 }, text: '[... 3 of 5 characters left out; ask ...]\nde' },
    { limits: { maxSize: 2, beginSize: 2, endSize: 0 }, text: 'ab\n[... 3 of 5 characters left out; ask ...]\n' },
    { limits: { maxSize: 4, beginSize: 0, endSize: 0 }, text: '[... 5 of 5 characters left out; ask ...]\n' },
  ])('comes as $text with $limits', ({ limits, text }) => {
    expect(render('abcde', limits)).toBe(text);
  });

  it('needs no hint', () => {
    expect(render('abc', { maxSize: 1, beginSize: 1, endSize: 0 }, { hint: '' })).toBe(
      'a\n[... 2 of 3 characters left out ...]\n',
    );
  });
});

describe('a cut inside an escape sequence', () => {
  const red = `${ESC}[31m`;
  const title = `${ESC}]0;title${BEL}`;
  const link = `${ESC}]8;;u${ST}`;

  test.each([red, title, link, `${ESC}(B`, `${ESC}7`])('moves outward: %j', (sequence) => {
    const output = `ab${sequence}${'-'.repeat(50)}${sequence}yz`;
    for (let inside = 1; inside < sequence.length; inside++) {
      const sizes = { beginSize: 2 + inside, endSize: 2 + inside };
      const leftOut = output.length - 4;
      expect(render(output, { maxSize: 50, ...sizes })).toBe(
        `ab\n[... ${leftOut} of ${output.length} characters left out; ask ...]\nyz`,
      );
    }
  });

  test.each([
    ['unterminated', `${ESC}]0;${'t'.repeat(300)}`],
    ['absurdly long', `${ESC}]0;${'t'.repeat(300)}${BEL}`],
  ])('stays where it is when the sequence is %s', (_name, sequence) => {
    const output = `${sequence}${'-'.repeat(50)}${sequence}`;
    const [head, , tail] = render(output, { maxSize: 40, beginSize: 20, endSize: 20 }).split('\n');
    expect([head, tail]).toEqual([output.slice(0, 20), output.slice(-20)]);
  });
});

describe('filters', () => {
  const limits = { maxSize: 20, beginSize: 8, endSize: 8 };

  it('strip_ansi is applied to what is kept', () => {
    const output = `${ESC}[31mred${'.'.repeat(50)}blue${ESC}[0m`;
    expect(render(output, limits, { stripAnsi: true })).toBe('red\n[... 50 of 66 characters left out; ask ...]\nblue');
    expect(render(`${ESC}[1mbold${ESC}[0m\n`, limits, { stripAnsi: true })).toBe('bold\n');
  });

  it('collapse_cr shows a progress display as it ends up', () => {
    const output = Array.from({ length: 100 }, (_, i) => `\r${String(i + 1).padStart(3)}%`).join('') + '\n';
    expect(render(output, { maxSize: 1000, beginSize: 0, endSize: 0 }, { collapseCr: true })).toBe('100%\n');
    expect(render(output, { maxSize: 1000, beginSize: 0, endSize: 0 })).toBe(output);
  });

  it('both: erasing takes effect, colours go', () => {
    const output = `long\r${ESC}[K${ESC}[1mok${ESC}[0m\n`;
    expect(render(output, { ...limits, maxSize: 99 }, { collapseCr: true, stripAnsi: true })).toBe('ok\n');
  });
});
