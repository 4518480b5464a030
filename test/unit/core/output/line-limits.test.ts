import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';

import { countLineFeeds } from '../../../../src/core/output/ansi.js';
import { type OutputLimits, OutputWindow, type RenderOptions } from '../../../../src/core/output/output-window.js';
import { propertyRuns } from '../../../support/rounds.js';
import { chunksOf, ESC, nodeScanner, splits, streams, toBytes } from './byte-streams.js';

const RAW: RenderOptions = { encoding: 'utf8', stripAnsi: false, collapseCr: false, hint: '' };
const WIDE = { maxSize: 1000, beginSize: 300, endSize: 700 };

function renderChunks(chunks: Iterable<Uint8Array>, limits: OutputLimits, options: Partial<RenderOptions> = {}) {
  const window = new OutputWindow(limits, nodeScanner);
  for (const chunk of chunks) window.push(chunk);
  return { ...window.render({ ...RAW, ...options }), lines: window.lines, characters: window.characters };
}

const render = (text: string, limits: OutputLimits, options: Partial<RenderOptions> = {}) =>
  renderChunks([toBytes(text)], limits, options);

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `${from + index}\n`).join('');

describe('limits on lines', () => {
  const lines = { maxLines: 5, beginLines: 2, endLines: 3 };
  const limits = { ...WIDE, lines };

  test.each([
    ['nothing', '', '', 0],
    ['as many lines as may be', numbers(1, 5), numbers(1, 5), 5],
    ['a last line without an end', '1\n2\n3\n4\n5', '1\n2\n3\n4\n5', 5],
    ['empty lines', '\n\n\n', '\n\n\n', 3],
  ])('%s: whole', (_, text, shown, count) => {
    expect(render(text, limits)).toMatchObject({ text: shown, truncated: false, lines: count });
  });

  test.each([
    ['one too many', numbers(1, 6), '1\n2\n[... 1 of 6 lines left out ...]\n4\n5\n6\n'],
    ['no end of the last line', '1\n2\n3\n4\n5\n6', '1\n2\n[... 1 of 6 lines left out ...]\n4\n5\n6'],
    ['empty ones', '\n'.repeat(1234), '\n\n[... 1,229 of 1,234 lines left out ...]\n\n\n\n'],
  ])('%s: beginning and end', (_, text, shown) => {
    expect(render(text, { ...limits, maxSize: 5000 })).toMatchObject({ text: shown, truncated: true });
  });

  test.each([
    [{ maxLines: 2, beginLines: 2, endLines: 0 }, '1\n2\n[... 7 of 9 lines left out ...]\n'],
    [{ maxLines: 1, beginLines: 0, endLines: 1 }, '[... 8 of 9 lines left out ...]\n9\n'],
    [{ maxLines: 8, beginLines: 0, endLines: 0 }, '[... 9 of 9 lines left out ...]\n'],
  ])('%j', (given, shown) => {
    expect(render(numbers(1, 9), { ...WIDE, lines: given }).text).toBe(shown);
  });

  it('hold beside those on characters', () => {
    const narrow = { maxSize: 20, beginSize: 8, endSize: 12, lines: { maxLines: 100, beginLines: 2, endLines: 90 } };
    expect(render(numbers(1, 50), narrow).text).toBe('1\n2\n[... 44 of 50 lines left out ...]\n47\n48\n49\n50\n');
    expect(render(`${'x'.repeat(30)}\n2\n`, narrow).text).toBe(
      `xxxxxxxx\n[... 1 of 2 lines cut ...]\n${'x'.repeat(9)}\n2\n`,
    );
    expect(render(`1\n2\n3\n${'x'.repeat(30)}`, narrow).text).toBe(
      `1\n2\n[... 1 of 4 lines left out, 1 line cut ...]\n${'x'.repeat(12)}`,
    );
    expect(render('x'.repeat(99), narrow).text).toBe(`xxxxxxxx\n[... 1 of 1 line cut ...]\n${'x'.repeat(12)}`);
  });

  it('base64 has the bytes of the lines', () => {
    const { text } = render(
      numbers(1, 9),
      { ...WIDE, lines: { maxLines: 2, beginLines: 1, endLines: 1 } },
      { encoding: 'base64' },
    );
    expect(Buffer.from(text, 'base64').toString()).toBe('1\n[... 7 of 9 lines left out ...]\n9\n');
  });
});

describe('long lines', () => {
  test.each([
    ['as long as may be', 'abcde\nabcde', 'abcde\nabcde'],
    ['longer', 'abcdef\nabc\nabcdefgh', 'abcde…\nabc\nabcde…'],
    ['characters, not bytes', 'äöü漢😀\näöü漢😀x\n', 'äöü漢😀\näöü漢😀…\n'],
    ['a split escape sequence is kept', `abcd${ESC}[31mefg\n`, `abcd${ESC}[31m…\n`],
    ['what only looks like one is not', `abcd${ESC}[3\u0001efg\n`, `abcd${ESC}…\n`],
    ['one without an end', `abcd${ESC}[3\nx`, `abcd${ESC}…\nx`],
  ])('%s', (_, text, shown) => {
    for (const size of [1, 2, 3, 100]) {
      const bytes = toBytes(text);
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (__, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      expect(renderChunks(chunks, { ...WIDE, maxLineLength: 5 })).toMatchObject({
        text: shown,
        truncated: shown !== text,
        characters: Array.from(text).length,
      });
    }
  });

  it('do not use up the window: lines after a huge one are there', () => {
    const window = new OutputWindow({ ...WIDE, maxLineLength: 3 }, nodeScanner);
    window.push(toBytes('one\n'));
    const piece = toBytes('x'.repeat(65_536));
    for (let i = 0; i < 64; i++) window.push(piece);
    window.push(toBytes('\nend\n'));
    expect(window.render(RAW)).toEqual({ text: 'one\nxxx…\nend\n', truncated: true });
    expect([window.lines, window.characters]).toEqual([3, 64 * 65_536 + 9]);
  });
});

describe('any bytes', () => {
  it('line feeds are counted as one by one', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3000 }), fc.nat(5), (bytes, offset) => {
        const some = bytes.map((byte) => (byte % 5 === 0 ? 10 : byte)).subarray(Math.min(offset, bytes.length));
        expect(countLineFeeds(some)).toBe(some.filter((byte) => byte === 10).length);
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  it('how the stream is split does not matter', () => {
    const limits = { maxSize: 40, beginSize: 10, endSize: 30, lines: { maxLines: 4, beginLines: 2, endLines: 2 } };
    fc.assert(
      fc.property(streams, splits, fc.nat(12), (stream, cuts, length) => {
        const all = { ...limits, maxLineLength: length + 1 };
        const whole = renderChunks([stream], all);
        expect(renderChunks(chunksOf(stream, cuts), all)).toEqual(whole);
      }),
      { numRuns: propertyRuns(1000) },
    );
  });
});
