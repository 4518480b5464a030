import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { linkSizeOf, Receipts, SendWindow } from '../../../../src/core/cluster/credit.js';

const WINDOW = 262_144;
const STEP = 16_384;

describe('a window', () => {
  it('never stalls: what the receiver keeps back is less than the low mark', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 70_000 }), { maxLength: 200 }), (sizes) => {
        const window = new SendWindow(WINDOW);
        const receipts = new Receipts(STEP);
        for (const bytes of sizes) {
          window.send(bytes);
          receipts.take(bytes);
          window.credit(receipts.settle());
        }
        expect(window.pending).toBeLessThan(STEP);
        expect(window.pending).toBeLessThan(window.marks.low);
      }),
    );
  });

  it('calls back once, when little enough is under way', () => {
    const window = new SendWindow(WINDOW);
    let calls = 0;
    window.send(WINDOW);
    window.onDrained(() => {
      calls += 1;
    });
    window.credit(1000);
    expect(calls).toBe(0);
    window.credit(WINDOW / 2);
    window.credit(1);
    expect(calls).toBe(1);
  });

  it('takes credit beyond what was sent for all of it', () => {
    const window = new SendWindow(WINDOW);
    window.send(10);
    window.credit(1_000_000);
    expect(window.pending).toBe(0);
  });
});

describe('the size of an event', () => {
  it('grows with its data', () => {
    const event = { command_id: 'c', session_id: null, stream: 'stdout', seq: 0, offset: 0 } as const;
    const small = linkSizeOf('command_output', { ...event, data: '' });
    expect(linkSizeOf('command_output', { ...event, data: 'x'.repeat(1000) })).toBe(small + 1000);
    expect(linkSizeOf('command_output', { ...event, data: new Uint8Array(1000) })).toBe(small + 1000);
  });
});
