import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { ByteWindow } from '../../../../src/core/output/output-window.js';
import { propertyRuns } from '../../../support/rounds.js';
import { chunksOf, splits } from './byte-streams.js';

describe('ByteWindow', () => {
  it('keeps the first and the last bytes, whatever the chunks', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200, size: 'max' }),
        splits,
        fc.nat(60),
        fc.nat(60),
        (bytes, fractions, headBytes, tailBytes) => {
          const window = new ByteWindow({ headBytes, tailBytes });
          for (const chunk of chunksOf(bytes, fractions)) window.push(chunk);
          expect(window.total).toBe(bytes.length);
          expect([...window.head()]).toEqual([...bytes.subarray(0, headBytes)]);
          expect([...window.tail()]).toEqual([...bytes.subarray(Math.max(0, bytes.length - tailBytes))]);
        },
      ),
      { numRuns: propertyRuns(1000) },
    );
  });

  it('costs a small output little memory, and an endless one no more than its sizes', () => {
    const window = new ByteWindow({ headBytes: 400_000, tailBytes: 80_000 });
    window.push(Buffer.from('hello\n'));
    expect(window.head().buffer.byteLength).toBeLessThanOrEqual(64);
    const chunk = new Uint8Array(65_536);
    for (let i = 0; i < 100; i++) window.push(chunk);
    expect(window.head().buffer.byteLength).toBeLessThanOrEqual(400_000);
    expect(window.tail().buffer.byteLength).toBe(80_000);
  });

  it('does not copy the head anew for every small chunk', () => {
    const window = new ByteWindow({ headBytes: 1_000_000, tailBytes: 0 });
    const buffers = new Set<ArrayBufferLike>();
    for (let i = 0; i < 10_000; i++) {
      window.push(Uint8Array.of(i));
      buffers.add(window.head().buffer);
    }
    expect(buffers.size).toBeLessThan(20);
  });
});
