import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { type OutputLimits, OutputWindow, type RenderOptions } from '../../../../src/core/output/output-window.js';
import { propertyRuns } from '../../../support/rounds.js';
import { chunksOf, decodeAll, nodeScanner, plainScanner, splits, streams } from './byte-streams.js';
import { referenceCut } from './reference-cut.js';

const RAW: RenderOptions = { encoding: 'utf8', stripAnsi: false, collapseCr: false, hint: 'ask' };

const limitsArbitrary = fc
  .record({ beginSize: fc.nat(30), endSize: fc.nat(30), between: fc.nat(20) })
  .map(({ beginSize, endSize, between }) => ({ beginSize, endSize, maxSize: beginSize + endSize + between }));

describe('against decoding everything and cutting it', () => {
  const push = (bytes: Uint8Array, fractions: readonly number[], limits: OutputLimits, scanner = nodeScanner) => {
    const window = new OutputWindow(limits, scanner);
    for (const chunk of chunksOf(bytes, fractions)) window.push(chunk);
    return window;
  };

  it.each([
    ['node', nodeScanner],
    ['plain', plainScanner],
  ])('gives the same sizes, text and bytes (%s scanner)', (_name, scanner) => {
    fc.assert(
      fc.property(streams, splits, limitsArbitrary, (bytes, fractions, limits) => {
        const window = push(bytes, fractions, limits, scanner);
        const expected = referenceCut(bytes, limits, RAW.hint);
        expect(window.bytes).toBe(bytes.length);
        expect(window.characters).toBe(Array.from(decodeAll(bytes)).length);
        expect(window.lossy).toBe(!plainScanner.isUtf8(bytes));
        expect(window.render(RAW)).toEqual({ text: expected.text, truncated: expected.truncated });
        const encoded = window.render({ ...RAW, encoding: 'base64', stripAnsi: true, collapseCr: true });
        expect(Buffer.from(encoded.text, 'base64').toString('latin1')).toBe(
          Buffer.from(expected.bytes).toString('latin1'),
        );
      }),
      { numRuns: propertyRuns(1500) },
    );
  });

  it('says exactly how many characters it left out', () => {
    // Without line feeds in the output, the one before the marker is the marker's own.
    const withoutLineFeeds = streams.map((bytes) => bytes.map((byte) => (byte === 0x0a ? 0x2e : byte)));
    fc.assert(
      fc.property(withoutLineFeeds, splits, limitsArbitrary, (bytes, fractions, limits) => {
        const window = push(bytes, fractions, limits);
        const { text, truncated } = window.render(RAW);
        fc.pre(truncated);
        const [, head, leftOut, tail] = /^(.*?)\n?\[\.{3} ([\d,]+) of .*; ask \.{3}\]\n(.*)$/su.exec(text)!;
        const kept = Array.from(head! + tail!).length;
        expect(kept + Number(leftOut!.replaceAll(',', ''))).toBe(window.characters);
      }),
    );
  });

  it('gives at any time what it would give if the stream ended there', () => {
    fc.assert(
      fc.property(streams, splits, limitsArbitrary, (bytes, fractions, limits) => {
        const window = new OutputWindow(limits, nodeScanner);
        for (const chunk of chunksOf(bytes, fractions)) {
          window.push(chunk);
          const { text } = window.render(RAW);
          expect(text).toBe(referenceCut(bytes.subarray(0, window.bytes), limits, RAW.hint).text);
        }
      }),
    );
  });
});
