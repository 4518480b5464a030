import { isAscii, isUtf8 } from 'node:buffer';

import fc from 'fast-check';

import { type ByteScanner } from '../../../../src/core/output/utf8.js';
import { anyCharacter } from '../../../support/code-points.js';

export const ESC = '\u001b';
export const BEL = '\u0007';
export const ST = `${ESC}\\`;

/** Node's vectorized functions: what the engine uses. */
export const nodeScanner: ByteScanner = { isAscii, isUtf8 };

const fatalDecoder = new TextDecoder('utf-8', { fatal: true });

/** The same in plain JavaScript. */
export const plainScanner: ByteScanner = {
  isAscii: (bytes) => bytes.every((byte) => byte < 0x80),
  isUtf8: (bytes) => {
    try {
      fatalDecoder.decode(bytes);
      return true;
    } catch {
      return false;
    }
  },
};

const referenceDecoder = new TextDecoder('utf-8', { ignoreBOM: true });

export const decodeAll = (bytes: Uint8Array): string => referenceDecoder.decode(bytes);

export const toBytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Bytes at the edges of every rule of UTF-8. */
const EDGE_BYTES = [
  ...[0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef],
  ...[0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff],
];

const invalid = fc.array(fc.constantFrom(...EDGE_BYTES), { maxLength: 6 }).map((bytes) => Uint8Array.from(bytes));

const sequences = fc.oneof(
  fc.constantFrom(
    `${ESC}[31m`,
    `${ESC}[0m`,
    `${ESC}[38;5;196m`,
    `${ESC}[2K`,
    `${ESC}[K`,
    `${ESC}(B`,
    `${ESC}7`,
    `${ESC}=`,
  ),
  fc.constantFrom(`${ESC}]0;título 漢${BEL}`, `${ESC}]8;;http://x.y/${ST}`, `${ESC}Pq#1${ST}`, `${ESC}[?25l`),
  fc.constantFrom(ESC, `${ESC}[`, `${ESC}[3`, `${ESC}]0;open`, `${ESC}${ESC}`, BEL, ST),
  fc.integer({ min: 248, max: 260 }).map((length) => `${ESC}]0;${'ö'.repeat(length)}${BEL}`),
);

const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: anyCharacter, maxLength: 6 }),
  fc.constantFrom('é', '漢字', '😀', '\ufeff', '\n', '\r\n', '\r', 'plain words on a line\n'),
);

/** Enough to fill the head of a window with small limits and to start on its tail. */
const filler = fc
  .tuple(fc.constantFrom('a', 'é', '漢', '😀', 'x\ny'), fc.nat(600))
  .map(([part, count]) => toBytes(part.repeat(count)));

const continuations = fc.nat(600).map((count) => new Uint8Array(count).fill(0x80));

/** Streams of plain and wide text, escape sequences whole and broken, and bytes that are not UTF-8. */
export const streams = fc
  .array(
    fc.oneof(
      { weight: 24, arbitrary: text.map(toBytes) },
      { weight: 6, arbitrary: sequences.map(toBytes) },
      { weight: 6, arbitrary: invalid },
      { weight: 2, arbitrary: filler },
      { weight: 1, arbitrary: continuations },
    ),
    { maxLength: 40, size: 'max' },
  )
  .map((parts) => Uint8Array.from(Buffer.concat(parts)));

/** Where to cut a stream into chunks, as fractions of its length. */
export const splits = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12, size: 'max' });

/** The stream in chunks, each in a buffer that is overwritten once the next is asked for, as a reader's is. */
export function* chunksOf(bytes: Uint8Array, fractions: readonly number[]): Generator<Uint8Array> {
  const buffer = Buffer.alloc(bytes.length + 3);
  const cuts = [...fractions.map((fraction) => Math.floor(fraction * bytes.length)), bytes.length].sort(
    (a, b) => a - b,
  );
  let start = 0;
  for (const cut of cuts) {
    const at = start % 4;
    buffer.set(bytes.subarray(start, cut), at);
    yield buffer.subarray(at, at + cut - start);
    buffer.fill(0xaa);
    start = cut;
  }
}
