import { describe, expect, it } from 'vitest';

import { collapseCr, stripAnsi } from '../../../../src/core/output/ansi.js';
import { base64 } from '../../../../src/core/output/utf8.js';
import { OutputWindow } from '../../../../src/core/output/output-window.js';
import { HANG_MS } from '../../../support/hang.js';
import { ESC, nodeScanner, toBytes } from './byte-streams.js';
import { referenceCut } from './reference-cut.js';

describe('stripAnsi', () => {
  it.each([`${ESC}]0;`, `${ESC}[`, `${ESC}[1`, `${ESC} `, `${ESC}Px`])('stays linear on a megabyte of %j', (part) => {
    const started = performance.now();
    stripAnsi(part.repeat(1_000_000 / part.length));
    stripAnsi(part + '1'.repeat(1_000_000));
    expect(performance.now() - started).toBeLessThan(HANG_MS);
  });
});

describe('collapseCr', () => {
  it('stays linear on a long line that is overwritten very often', () => {
    const started = performance.now();
    expect(collapseCr('x'.repeat(200_000) + '\ra'.repeat(200_000))).toHaveLength(200_000);
    expect(performance.now() - started).toBeLessThan(HANG_MS);
  });
});

describe('base64', () => {
  it('encodes megabytes', () => {
    const bytes = Uint8Array.from({ length: 3_000_001 }, (_, i) => (i * 7919) >> 3);
    expect(base64(bytes) === Buffer.from(bytes).toString('base64')).toBe(true);
  });
});

describe('an output window', () => {
  it('keeps head and tail of megabytes that came in large chunks', () => {
    const bytes = toBytes(Array.from({ length: 60_000 }, (_, i) => `line ${i} – 漢字 😀\n`).join(''));
    const limits = { maxSize: 5000, beginSize: 2000, endSize: 3000 };
    const window = new OutputWindow(limits, nodeScanner);
    for (let at = 0; at < bytes.length; at += 65_536) window.push(bytes.subarray(at, at + 65_536));
    const { text } = window.render({ encoding: 'utf8', stripAnsi: false, collapseCr: false, hint: 'ask' });
    expect(text).toBe(referenceCut(bytes, limits, 'ask').text);
  });
});
