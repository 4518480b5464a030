import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { type OutputChunk, OutputQueue } from '../../../../src/client/output-queue.js';

const out = (offset: number, data: string | Uint8Array): OutputChunk => ({ stream: 'stdout', offset, data });
const err = (offset: number, data: string | Uint8Array): OutputChunk => ({ stream: 'stderr', offset, data });

/** Empties a queue: chunks as `stream offset data`, holes as `stream offset-end`. */
function drain(queue: OutputQueue): string[] {
  const seen: string[] = [];
  for (let entry = queue.first; entry; entry = queue.first) {
    if (entry.kind === 'chunk') {
      const { stream, offset, data } = entry.chunk;
      seen.push(`${stream} ${offset} ${String(data)}`);
      queue.takeChunk();
    } else {
      const { stream, offset, end } = entry.hole;
      seen.push(`${stream} ${offset}-${end}`);
      queue.fillHole(end);
    }
  }
  return seen;
}

const cases: readonly {
  readonly title: string;
  readonly pieces: readonly OutputChunk[];
  readonly sizes?: { readonly stdout: number; readonly stderr: number };
  readonly expected: readonly string[];
}[] = [
  { title: 'pieces in order', pieces: [out(0, 'ab'), out(2, 'c')], expected: ['stdout 0 ab', 'stdout 2 c'] },
  {
    title: 'both streams in the order of arrival',
    pieces: [out(0, 'a'), err(0, 'x'), out(1, 'b')],
    expected: ['stdout 0 a', 'stderr 0 x', 'stdout 1 b'],
  },
  { title: 'a piece that came twice, once', pieces: [out(0, 'ab'), out(0, 'ab')], expected: ['stdout 0 ab'] },
  {
    title: 'a piece within what has come, not at all',
    pieces: [out(0, 'abc'), out(1, 'b')],
    expected: ['stdout 0 abc'],
  },
  { title: 'a hole where a piece is missing', pieces: [out(3, 'd')], expected: ['stdout 0-3', 'stdout 3 d'] },
  {
    title: 'the rest of a piece of which a part has come, as a hole',
    pieces: [out(0, 'ab'), out(1, 'bcd'), out(4, 'e')],
    expected: ['stdout 0 ab', 'stdout 2-4', 'stdout 4 e'],
  },
  {
    title: 'sizes of text in bytes of UTF-8',
    pieces: [out(0, 'é漢😀'), out(9, '!')],
    expected: ['stdout 0 é漢😀', 'stdout 9 !'],
  },
  { title: 'an empty piece, not at all', pieces: [out(0, ''), out(5, '')], expected: [] },
  {
    title: 'what has not come by the end as a hole',
    pieces: [out(0, 'ab')],
    sizes: { stdout: 5, stderr: 1 },
    expected: ['stdout 0 ab', 'stdout 2-5', 'stderr 0-1'],
  },
];

describe('the queue of a command’s output gives', () => {
  test.each(cases)('$title', ({ pieces, sizes, expected }) => {
    const queue = new OutputQueue(1_000_000);
    for (const piece of pieces) queue.push(piece);
    if (sizes) queue.finish(sizes);
    expect(drain(queue)).toEqual(expected);
    expect(queue.isDone).toBe(sizes !== undefined);
    expect(queue.bufferedBytes).toBe(0);
  });

  test('nothing beyond the size that the result tells', () => {
    const queue = new OutputQueue(1000);
    queue.finish({ stdout: 2, stderr: 0 });
    queue.push(out(0, 'ab'));
    queue.push(out(1, 'bcd'));
    queue.push(out(2, 'late'));
    expect(drain(queue)).toEqual(['stdout 0-2']);
    expect(queue.isDone).toBe(true);
  });
});

describe('the queue of a command’s output', () => {
  test('lets go of data beyond its bound, and takes it again once there is room', () => {
    const queue = new OutputQueue(1000);
    queue.push(out(0, 'a'.repeat(800)));
    queue.push(out(800, 'b'.repeat(800)));
    queue.push(err(0, 'e'.repeat(800)));
    queue.push(out(1600, 'c'.repeat(800)));
    expect(queue.bufferedBytes).toBeLessThanOrEqual(1000);
    queue.takeChunk();
    queue.push(out(2400, 'd'));
    expect(drain(queue)).toEqual(['stdout 800-2400', 'stderr 0-800', 'stdout 2400 d']);
  });

  test('counts the overhead of small pieces', () => {
    const queue = new OutputQueue(1000);
    for (let offset = 0; offset < 1000; offset++) queue.push(out(offset, 'x'));
    const entries = drain(queue);
    expect(entries.length).toBeLessThan(12);
    expect(entries.at(-1)).toMatch(/^stdout \d+-1000$/);
  });

  test('fills a hole part by part, and lets it grow meanwhile', () => {
    const queue = new OutputQueue(0);
    queue.push(out(0, 'abc'));
    queue.fillHole(2);
    queue.push(out(3, 'def'));
    expect(drain(queue)).toEqual(['stdout 2-6']);
    queue.push(out(6, 'g'));
    expect(drain(queue)).toEqual(['stdout 6-7']);
  });

  test('is done only when the end is known and everything was read', () => {
    const queue = new OutputQueue(1000);
    expect(queue.isDone).toBe(false);
    queue.push(out(0, 'a'));
    queue.finish({ stdout: 1, stderr: 0 });
    expect(queue.isDone).toBe(false);
    queue.takeChunk();
    expect(queue.isDone).toBe(true);
  });

  test('holds on to nothing once closed', () => {
    const queue = new OutputQueue(1000);
    queue.push(out(0, 'a'));
    queue.close();
    queue.push(out(1, 'b'));
    queue.finish({ stdout: 9, stderr: 9 });
    expect(queue.first).toBeUndefined();
    expect(queue.bufferedBytes).toBe(0);
  });
});

/** What may happen to the events of a stream on their way. */
const fates = fc.constantFrom('comes', 'is lost', 'comes twice', 'comes again later');

/** Reads a queue to its end, holes from the true bytes, in blocks. */
function readAll(
  queue: OutputQueue,
  truth: Readonly<Record<'stdout' | 'stderr', Uint8Array>>,
  seen: OutputChunk[],
): void {
  const BLOCK = 5;
  for (let entry = queue.first; entry; entry = queue.first) {
    if (entry.kind === 'chunk') {
      seen.push(entry.chunk);
      queue.takeChunk();
    } else {
      const { stream, offset, end } = entry.hole;
      const stop = Math.min(end, offset + BLOCK);
      seen.push({ stream, offset, data: truth[stream].subarray(offset, stop) });
      queue.fillHole(stop);
    }
  }
}

test('whatever is lost, doubled or delayed, each stream comes out once and in order, within the bound', () => {
  const pieces = fc.array(
    fc.record({
      stream: fc.constantFrom('stdout' as const, 'stderr' as const),
      text: fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }),
      fate: fates,
      isReadAfter: fc.boolean(),
    }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(pieces, fc.nat(2000), (plan, maxBytes) => {
      const encoder = new TextEncoder();
      const parts = { stdout: [] as number[], stderr: [] as number[] };
      const events = plan.map(({ stream, text, ...rest }) => {
        const offset = parts[stream].length;
        parts[stream].push(...encoder.encode(text));
        return { ...rest, piece: { stream, offset, data: text } };
      });
      const truth = { stdout: Uint8Array.from(parts.stdout), stderr: Uint8Array.from(parts.stderr) };
      const queue = new OutputQueue(maxBytes);
      const seen: OutputChunk[] = [];
      const again: OutputChunk[] = [];
      for (const { piece, fate, isReadAfter } of events) {
        if (fate !== 'is lost') queue.push(piece);
        if (fate === 'comes twice') queue.push(piece);
        if (fate === 'comes again later') again.push(piece);
        expect(queue.bufferedBytes).toBeLessThanOrEqual(maxBytes);
        if (isReadAfter) {
          readAll(queue, truth, seen);
          for (const late of again.splice(0)) queue.push(late);
        }
      }
      queue.finish({ stdout: truth.stdout.length, stderr: truth.stderr.length });
      readAll(queue, truth, seen);
      expect(queue.isDone).toBe(true);
      for (const stream of ['stdout', 'stderr'] as const) {
        const chunks = seen.filter((chunk) => chunk.stream === stream);
        const bytes = chunks.flatMap(({ data }) => [...(typeof data === 'string' ? encoder.encode(data) : data)]);
        expect(bytes).toEqual([...truth[stream]]);
        let position = 0;
        for (const { offset, data } of chunks) {
          expect(offset).toBe(position);
          position += typeof data === 'string' ? encoder.encode(data).length : data.length;
        }
      }
    }),
  );
});
