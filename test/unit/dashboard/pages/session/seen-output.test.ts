import { describe, expect, it } from 'vitest';

import { parseCast } from '../../../../../src/core/recording.js';
import { SeenOutput } from '../../../../../src/dashboard/pages/session/terminal/session-watcher.js';

const START = Date.parse('2026-01-01T00:00:00Z');
const MIB = 1024 * 1024;

/** Bytes of a text, cut in two. */
function halves(text: string): readonly [Uint8Array, Uint8Array] {
  const bytes = new TextEncoder().encode(text);
  return [bytes.subarray(0, 1), bytes.subarray(1)];
}

describe('what a terminal has shown, as an asciicast file', () => {
  it('has the size at first, the times, and later sizes', () => {
    const seen = new SeenOutput();
    expect(seen.isEmpty).toBe(true);
    seen.resize({ cols: 100, rows: 30 }, START);
    seen.resize({ cols: 110, rows: 40 }, START + 10);
    seen.add(new TextEncoder().encode('one\r\n'), START + 100);
    seen.resize({ cols: 90, rows: 20 }, START + 1350);
    seen.add(new TextEncoder().encode('two\r\n'), START + 2100);
    expect(seen.isEmpty).toBe(false);
    expect(parseCast(seen.toCast('a session'))).toEqual({
      header: { version: 2, width: 110, height: 40, timestamp: START / 1000, title: 'a session' },
      events: [
        [0, 'o', 'one\r\n'],
        [1.25, 'r', '90x20'],
        [2, 'o', 'two\r\n'],
      ],
    });
  });

  it('joins characters that were cut', () => {
    const seen = new SeenOutput();
    const [first, rest] = halves('€');
    seen.add(first, START);
    seen.add(rest, START + 500);
    expect(parseCast(seen.toCast('')).events).toEqual([[0.5, 'o', '€']]);
  });

  it('keeps the newest 4 MB, and the size that these were shown in', () => {
    const seen = new SeenOutput();
    seen.add(new Uint8Array(MIB).fill(97), START);
    seen.resize({ cols: 50, rows: 10 }, START + 1000);
    for (let second = 2; second < 8; second++) seen.add(new Uint8Array(MIB).fill(98), START + second * 1000);
    const { header, events } = parseCast(seen.toCast(''));
    expect(header).toMatchObject({ width: 50, height: 10, timestamp: START / 1000 + 5 });
    expect(events.map(([seconds, , data]) => [seconds, data.length, data[0]])).toEqual([
      [0, MIB, 'b'],
      [1, MIB, 'b'],
      [2, MIB, 'b'],
    ]);
  });
});
