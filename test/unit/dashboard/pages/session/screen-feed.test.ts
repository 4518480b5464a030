import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  type OutputPiece,
  ScreenFeed,
  type ScreenPiece,
} from '../../../../../src/dashboard/pages/session/terminal/screen-feed.js';

const output = (offset: number, text: string, stream: OutputPiece['stream'] = 'stdout'): OutputPiece => ({
  kind: 'output',
  commandId: 'c',
  stream,
  offset,
  data: new TextEncoder().encode(text),
});

function drain(feed: ScreenFeed): ScreenPiece[] {
  const pieces: ScreenPiece[] = [];
  for (let piece = feed.take(); piece; piece = feed.take()) pieces.push(piece);
  return pieces;
}

/** Pieces as short texts. */
const shown = (pieces: readonly ScreenPiece[]): string[] =>
  pieces.map((piece) => {
    if (piece.kind === 'output') return `${piece.stream} ${piece.offset} ${new TextDecoder().decode(piece.data)}`;
    return piece.kind === 'gap' ? `gap ${piece.stream} ${piece.from}-${piece.to}` : piece.text;
  });

describe('what waits for a screen', () => {
  it('comes out in order, with a gap where the daemon has left something out', () => {
    const feed = new ScreenFeed(1000);
    feed.add({ kind: 'mark', commandId: 'c', text: '❯ make' });
    feed.add(output(0, 'ab'));
    feed.add(output(5, 'fg'));
    feed.add(output(0, 'x', 'stderr'));
    expect(shown(drain(feed))).toEqual(['❯ make', 'stdout 0 ab', 'gap stdout 2-5', 'stdout 5 fg', 'stderr 0 x']);
  });

  it('is not shown twice', () => {
    const feed = new ScreenFeed(1000);
    for (const piece of [output(0, 'abc'), output(1, 'bcd'), output(2, 'c')]) feed.add(piece);
    expect(shown(drain(feed))).toEqual(['stdout 0 abc', 'stdout 3 d']);
  });

  it('ends with gaps to the final sizes, and begins again with the next command', () => {
    const feed = new ScreenFeed(1000);
    feed.add(output(0, 'ab'));
    feed.add({ kind: 'end', commandId: 'c', sizes: { stdout: 4, stderr: 3 }, text: '✗ exit 1' });
    feed.add(output(0, 'ab'));
    expect(shown(drain(feed))).toEqual(['stdout 0 ab', 'gap stdout 2-4', 'gap stderr 0-3', '✗ exit 1', 'stdout 0 ab']);
  });

  it('drops the oldest beyond its bytes, and keeps the newest', () => {
    const feed = new ScreenFeed(4);
    for (const piece of [output(0, 'aa'), output(2, 'bb'), output(4, 'cc'), output(6, 'dddddd')]) feed.add(piece);
    expect(feed.waitingBytes).toBe(6);
    expect(shown(drain(feed))).toEqual(['gap stdout 0-6', 'stdout 6 dddddd']);
  });

  it('shows or announces every byte once, whatever is dropped and however late it is taken', () => {
    const step = fc.record({ skip: fc.nat(3), length: fc.integer({ min: 1, max: 9 }), takes: fc.nat(3) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), fc.integer({ min: 1, max: 40 }), (steps, max) => {
        const feed = new ScreenFeed(max);
        const pieces: ScreenPiece[] = [];
        let offset = 0;
        for (const { skip, length, takes } of steps) {
          feed.add(output(offset + skip, 'x'.repeat(length)));
          offset += skip + length;
          for (let index = 0; index < takes; index += 1) pieces.push(...[feed.take() ?? []].flat());
        }
        pieces.push(...drain(feed));
        let end = 0;
        for (const piece of pieces) {
          const [from, to] =
            piece.kind === 'output'
              ? [piece.offset, piece.offset + piece.data.length]
              : piece.kind === 'gap'
                ? [piece.from, piece.to]
                : [end, end];
          expect(from).toBe(end);
          end = to;
        }
        expect(end).toBe(offset);
        expect(pieces.at(-1)?.kind).toBe('output');
      }),
    );
  });
});
