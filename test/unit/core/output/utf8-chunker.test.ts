import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';

import { type Piece, Utf8Chunker } from '../../../../src/core/output/utf8.js';
import { propertyRuns } from '../../../support/rounds.js';
import { chunksOf, plainScanner, splits, streams, toBytes } from './byte-streams.js';
import { anyCharacter } from '../../../support/code-points.js';

const bytesOf = ({ data }: Piece) => (typeof data === 'string' ? toBytes(data) : data);

const pushAll = (bytes: Uint8Array, fractions: readonly number[]): Piece[] => {
  const chunker = new Utf8Chunker();
  const pieces: Piece[] = [];
  for (const chunk of chunksOf(bytes, fractions)) pieces.push(...chunker.push(chunk));
  return [...pieces, ...chunker.flush()];
};

describe('Utf8Chunker', () => {
  it('gives pieces that are the stream, byte for byte, at the offsets they say', () => {
    fc.assert(
      fc.property(streams, splits, (bytes, fractions) => {
        let offset = 0;
        for (const piece of pushAll(bytes, fractions)) {
          expect(piece.offset).toBe(offset);
          const data = bytesOf(piece);
          expect(data.length).toBeGreaterThan(0);
          expect(Buffer.compare(data, bytes.subarray(offset, offset + data.length))).toBe(0);
          offset += data.length;
        }
        expect(offset).toBe(bytes.length);
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  it('gives valid UTF-8 as text alone, a BOM and NULs included', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), splits, (text, fractions) => {
        const pieces = pushAll(toBytes(text), fractions);
        expect(pieces.map(({ data }) => data).join('')).toBe(text);
        expect(pieces.every(({ data }) => typeof data === 'string')).toBe(true);
      }),
    );
    expect(pushAll(toBytes('\ufeffa\0'), [])).toEqual([{ offset: 0, data: '\ufeffa\0' }]);
  });

  it('gives a chunk that is not UTF-8 as bytes, and the next as text again', () => {
    const chunker = new Utf8Chunker();
    expect(chunker.push(Uint8Array.of(0x61, 0xff, 0x62))).toEqual([
      { offset: 0, data: Uint8Array.of(0x61, 0xff, 0x62) },
    ]);
    expect(chunker.push(toBytes('é'))).toEqual([{ offset: 3, data: 'é' }]);
  });

  test.each([1, 2, 3])('holds back %d bytes of a character until the rest comes', (count) => {
    const chunker = new Utf8Chunker();
    const bytes = toBytes('a😀b');
    expect(chunker.push(bytes.subarray(0, 1 + count))).toEqual([{ offset: 0, data: 'a' }]);
    expect(chunker.push(bytes.subarray(1 + count))).toEqual([{ offset: 1, data: '😀b' }]);
    expect(chunker.flush()).toEqual([]);
  });

  it('gives the bytes it held back when the stream ends there', () => {
    const chunker = new Utf8Chunker();
    expect(chunker.push(Uint8Array.of(0xe2, 0x82))).toEqual([]);
    expect(chunker.flush()).toEqual([{ offset: 0, data: Uint8Array.of(0xe2, 0x82) }]);
    expect(chunker.flush()).toEqual([]);
    expect(chunker.push(toBytes('x'))).toEqual([{ offset: 2, data: 'x' }]);
  });

  it('gives one piece for a whole chunk', () => {
    const bytes = toBytes('é漢😀 plain\n'.repeat(10_000));
    expect(plainScanner.isUtf8(bytes)).toBe(true);
    expect(new Utf8Chunker().push(bytes)).toHaveLength(1);
    expect(new Utf8Chunker().push(new Uint8Array(0))).toEqual([]);
  });
});
