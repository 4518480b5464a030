import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';

import { characterOffset, completeLength, countCharacters, Utf8Counter } from '../../../../src/core/output/utf8.js';
import { propertyRuns } from '../../../support/rounds.js';
import { chunksOf, decodeAll, nodeScanner, plainScanner, splits, streams, toBytes } from './byte-streams.js';
import { anyCharacter } from '../../../support/code-points.js';

const countOf = (bytes: Uint8Array) => Array.from(decodeAll(bytes)).length;

describe('countCharacters', () => {
  test.each([
    { bytes: [], count: 0, title: 'nothing' },
    { bytes: [0x61, 0x00], count: 2, title: 'ASCII with a NUL' },
    { bytes: [0xef, 0xbb, 0xbf], count: 1, title: 'a byte order mark is a character' },
    { bytes: [0xf0, 0x9f, 0x98, 0x80], count: 1, title: 'four bytes, one code point' },
    { bytes: [0xf0, 0x9f, 0x98], count: 1, title: 'a broken-off sequence is one U+FFFD' },
    { bytes: [0xf0, 0x9f, 0x98, 0x41], count: 2, title: 'and the byte that broke it its own character' },
    { bytes: [0xe0, 0x80, 0x80], count: 3, title: 'overlong: no byte continues another' },
    { bytes: [0xed, 0xa0, 0x80], count: 3, title: 'a surrogate' },
    { bytes: [0xf4, 0x90, 0x80, 0x80], count: 4, title: 'beyond U+10FFFF' },
    { bytes: [0xc0, 0xaf, 0xf5, 0xff], count: 4, title: 'bytes that are never UTF-8' },
    { bytes: [0xe2, 0xe2, 0x82, 0xac], count: 2, title: 'a lead byte cut short by another' },
  ])('$title', ({ bytes, count }) => {
    expect(countCharacters(Uint8Array.from(bytes))).toBe(count);
    expect(countOf(Uint8Array.from(bytes))).toBe(count);
  });

  it('counts what the decoder gives for any stream', () => {
    fc.assert(
      fc.property(fc.oneof(streams, fc.uint8Array({ maxLength: 40, size: 'max' })), (bytes) => {
        expect(countCharacters(bytes)).toBe(countOf(bytes));
      }),
      { numRuns: propertyRuns(1000) },
    );
  });

  it('counts what the decoder gives for every pair of bytes, in the middle of a sequence and after one', () => {
    for (const lead of [[], [0xe0], [0xed], [0xf0], [0xf4], [0xf1, 0x80]]) {
      for (let pair = 0; pair < 0x1_0000; pair += 7) {
        const bytes = Uint8Array.of(...lead, pair >> 8, pair & 0xff);
        if (countCharacters(bytes) !== countOf(bytes)) expect.fail(`wrong for ${bytes.toString()}`);
      }
    }
  });
});

describe('Utf8Counter', () => {
  it.each([
    ['node', nodeScanner],
    ['plain', plainScanner],
  ])('is exact after every chunk, however the stream is split (%s scanner)', (_name, scanner) => {
    const check = (bytes: Uint8Array, fractions: readonly number[]) => {
      const counter = new Utf8Counter(scanner);
      let length = 0;
      for (const chunk of chunksOf(bytes, fractions)) {
        counter.push(chunk);
        length += chunk.length;
        const soFar = bytes.subarray(0, length);
        expect(counter.characters).toBe(countOf(soFar));
        expect(counter.lossy).toBe(!plainScanner.isUtf8(soFar));
      }
    };
    fc.assert(fc.property(streams, splits, check), { numRuns: propertyRuns(500) });
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, minLength: 100, maxLength: 400 }).map(toBytes), splits, check),
    );
  });

  it('counts valid text of every length and alignment', () => {
    const bytes = Buffer.concat([Buffer.alloc(8), toBytes('aé漢😀'.repeat(1200))]);
    for (let start = 8; start < 12; start++) {
      for (const length of [48, 49, 50, 51, 1019, 1020, 1021, 1024, 9000]) {
        const counter = new Utf8Counter(nodeScanner);
        counter.push(bytes.subarray(start, start + length));
        expect(counter.characters).toBe(countOf(bytes.subarray(start, start + length)));
      }
    }
  });

  it('takes a character one byte at a time', () => {
    const counter = new Utf8Counter(nodeScanner);
    const seen = [...toBytes('é😀')].map((byte) => {
      counter.push(Uint8Array.of(byte));
      return [counter.characters, counter.lossy];
    });
    expect(seen).toEqual([
      [1, true],
      [1, false],
      [2, true],
      [2, true],
      [2, true],
      [2, false],
    ]);
  });

  it('does not let a character that broke off take a byte from beyond a large chunk', () => {
    const counter = new Utf8Counter(nodeScanner);
    counter.push(Uint8Array.of(0xe2));
    counter.push(new Uint8Array(100).fill(0x61));
    counter.push(Uint8Array.of(0x82, 0xac));
    expect(counter.characters).toBe(103);
  });
});

describe('completeLength', () => {
  test.each([
    { bytes: [], length: 0 },
    { bytes: [0x61], length: 1 },
    { bytes: [0x61, 0xc3], length: 1 },
    { bytes: [0xc3, 0xa9], length: 2 },
    { bytes: [0xe2, 0x82], length: 0 },
    { bytes: [0x61, 0xf0, 0x9f, 0x98], length: 1 },
    { bytes: [0xf0, 0x9f, 0x98, 0x80], length: 4 },
    { bytes: [0x80, 0x80, 0x80], length: 3 },
    { bytes: [0xe0, 0x80], length: 2 },
    { bytes: [0xff], length: 1 },
    { bytes: [0xf0, 0xe2, 0x82], length: 1 },
  ])('of $bytes is $length', ({ bytes, length }) => {
    expect(completeLength(Uint8Array.from(bytes))).toBe(length);
  });

  it('holds back at most three bytes, and only what more bytes can complete', () => {
    fc.assert(
      fc.property(streams, (bytes) => {
        const held = bytes.subarray(completeLength(bytes));
        expect(held.length).toBeLessThanOrEqual(3);
        if (held.length > 0) expect(decodeAll(held)).toBe('\ufffd');
        expect(countOf(bytes.subarray(0, bytes.length - held.length)) + countOf(held)).toBe(countOf(bytes));
      }),
    );
  });
});

describe('characterOffset', () => {
  it('gives the offset before which that many characters lie', () => {
    fc.assert(
      fc.property(streams, fc.nat(60), (bytes, index) => {
        const offset = characterOffset(bytes, index);
        const characters = Array.from(decodeAll(bytes));
        expect(decodeAll(bytes.subarray(0, offset))).toBe(characters.slice(0, index).join(''));
        expect(decodeAll(bytes.subarray(offset))).toBe(characters.slice(index).join(''));
      }),
    );
  });
});
