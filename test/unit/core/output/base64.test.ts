import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';

import { base64, base64Url } from '../../../../src/core/output/utf8.js';
import { toBytes } from './byte-streams.js';

describe('base64', () => {
  // RFC 4648, section 10.
  test.each([
    ['', ''],
    ['f', 'Zg=='],
    ['fo', 'Zm8='],
    ['foo', 'Zm9v'],
    ['foob', 'Zm9vYg=='],
    ['fooba', 'Zm9vYmE='],
    ['foobar', 'Zm9vYmFy'],
  ])('of %j is %j', (text, encoded) => {
    expect(base64(toBytes(text))).toBe(encoded);
    expect(base64Url(toBytes(text))).toBe(encoded.replaceAll('=', ''));
  });

  it('agrees with Node on any bytes, in both alphabets', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(base64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
        expect(base64Url(bytes)).toBe(Buffer.from(bytes).toString('base64url'));
      }),
    );
  });
});
