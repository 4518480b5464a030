import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { TerminalFence } from '../../../../src/engine/shell/terminal-echo.js';

const NONCE = 'abcdefghijklmnopqrstuv';
const OPENING = `\x1b]7711;a${NONCE}\x07`;
const CLOSING = `\x1b]7711;z${NONCE}\x07`;

function cut(chunks: readonly Buffer[]): { text: string; isClosed: boolean } {
  const fence = new TerminalFence(NONCE);
  const text = Buffer.concat(chunks.map((chunk) => Buffer.from(fence.push(chunk)))).toString();
  return { text, isClosed: fence.isClosed };
}

describe('TerminalFence', () => {
  it.each([
    ['gives what stands between the marks', `noise${OPENING}hello\r\n${CLOSING}prompt`, 'hello\r\n', true],
    ['gives nothing before the opening mark', 'noise', '', false],
    [
      'takes no other nonce for its own',
      `${OPENING}a${CLOSING.replace('v', 'w')}b${CLOSING}`,
      `a${CLOSING.replace('v', 'w')}b`,
      true,
    ],
    ['takes a second opening mark for output', `${OPENING}a${OPENING}b${CLOSING}`, `a${OPENING}b`, true],
    ['can be empty', `${OPENING}${CLOSING}`, '', true],
  ])('%s', (_, stream, text, isClosed) => {
    expect(cut([Buffer.from(stream)])).toEqual({ text, isClosed });
  });

  it('gives the same however the stream is cut', () => {
    const stream = Buffer.from(`x${OPENING}one\x1b]77 two\x1b${CLOSING}after`);
    fc.assert(
      fc.property(fc.array(fc.nat(stream.length)), (cuts) => {
        const ends = [...cuts.toSorted((a, b) => a - b), stream.length];
        const chunks = ends.map((end, index) => stream.subarray(ends[index - 1] ?? 0, end));
        expect(cut(chunks)).toEqual({ text: 'one\x1b]77 two\x1b', isClosed: true });
      }),
    );
  });

  it('gives back at the end what might have been the closing mark', () => {
    const fence = new TerminalFence(NONCE);
    expect(fence.push(Buffer.from(`${OPENING}a\x1b]7711;z`)).toString()).toBe('a');
    expect(fence.flush().toString()).toBe('\x1b]7711;z');
  });
});
