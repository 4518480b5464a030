import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { type CastHeader, parseCast } from '../../../../src/core/recording.js';
import { RecordingFiles } from '../../../../src/engine/output/recording-files.js';
import { type RecordingFile, RecordingWriter } from '../../../../src/engine/output/recording-writer.js';

let directory: string;
let files: RecordingFiles;
const cuts: string[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'shell-adapter-recording-'));
  files = new RecordingFiles(directory);
  cuts.length = 0;
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

const idOf = (letter: string) => `recording_${letter.repeat(22)}`;

const headerOf = (id: string, timestamp: number): CastHeader => ({
  version: 2,
  width: 80,
  height: 24,
  timestamp,
  shell_adapter: { recording_id: id, session_id: 'session_x', owner: 'local', owner_name: 'local', reason: 'request' },
});

interface Wanted {
  readonly letter?: string;
  readonly timestamp?: number;
  readonly maxBytes?: number;
  readonly open?: () => Promise<RecordingFile>;
}

const create = ({ letter = 'a', timestamp = 1, maxBytes = 1024 * 1024, open }: Wanted = {}) =>
  RecordingWriter.create({
    path: files.pathOf(idOf(letter)),
    header: headerOf(idOf(letter), timestamp),
    maxBytes,
    onCut: (reason) => cuts.push(reason),
    ...(open && { open }),
  });

const readCast = (letter = 'a') => parseCast(readFileSync(files.pathOf(idOf(letter)), 'utf8'));

describe('a recording that is written', () => {
  it('has its events in order, and how it ended; only its owner can read it', async () => {
    const writer = await create();
    writer.add('o', 'one');
    writer.add('i', 'two');
    await writer.end();
    writer.add('o', 'late');
    await writer.end();
    const { events } = readCast();
    expect(events.map(([, code, data]) => [code, data])).toEqual([
      ['o', 'one'],
      ['i', 'two'],
      ['x', 'complete'],
    ]);
    expect(statSync(files.pathOf(idOf('a'))).mode & 0o777).toBe(0o600);
    expect(await files.find(idOf('a'))).toMatchObject({ end: 'complete', origin: { recording_id: idOf('a') } });
  });

  it('ends when it is full, says why, and stays below its bound', async () => {
    const writer = await create({ maxBytes: 65_536 });
    for (let count = 0; count < 100; count += 1) writer.add('o', 'x'.repeat(1000));
    expect(writer.isOpen).toBe(false);
    await writer.end();
    expect(statSync(files.pathOf(idOf('a'))).size).toBeLessThanOrEqual(65_536);
    expect(cuts).toEqual(['it has reached 65536 bytes (recording.max_bytes)']);
    expect(readCast().events.at(-2)?.[2]).toContain('the recording ends here: it has reached 65536 bytes');
    expect((await files.find(idOf('a')))?.end).toBe('cut: it has reached 65536 bytes (recording.max_bytes)');
  });

  it('ends at a write error, once, and refuses nothing', async () => {
    let closed = 0;
    let appended = 0;
    const open = (): Promise<RecordingFile> =>
      Promise.resolve({
        appendFile: () => (appended++ === 0 ? Promise.resolve() : Promise.reject(new Error('ENOSPC: no space left'))),
        close: () => Promise.resolve(void (closed += 1)),
      });
    const writer = await create({ open });
    writer.add('o', 'one');
    await writer.flush();
    writer.add('o', 'two');
    await writer.end();
    expect({ cuts, closed, isOpen: writer.isOpen }).toEqual({
      cuts: ['ENOSPC: no space left'],
      closed: 1,
      isOpen: false,
    });
  });

  it('is never the reason for a wait: what a slow disk does not take is left out, with a note', async () => {
    let isFree = false;
    let free: () => void = () => undefined;
    const freed = new Promise<void>((resolve) => (free = resolve));
    const lines: string[] = [];
    const open = (): Promise<RecordingFile> =>
      Promise.resolve({
        appendFile: async (data) => {
          if (lines.length > 0 && !isFree) await freed;
          lines.push(data as string);
        },
        close: () => Promise.resolve(),
      });
    const writer = await create({ open, maxBytes: 1024 ** 3 });
    for (let count = 0; count < 40; count += 1) writer.add('o', 'x'.repeat(1024 * 1024));
    isFree = true;
    free();
    await writer.flush();
    writer.add('o', 'after');
    await writer.end();
    const { events } = parseCast(lines.join(''));
    expect(events.filter(([, , data]) => data.startsWith('x'))).toHaveLength(15);
    expect(events.slice(-3).map(([, , data]) => data)).toEqual([
      expect.stringMatching(/\d+ bytes of the recording are left out: the disk was too slow/u),
      'after',
      'complete',
    ]);
  });

  it('cannot replace a file', async () => {
    writeFileSync(files.pathOf(idOf('a')), 'there');
    await expect(create()).rejects.toMatchObject({ code: 'EEXIST' });
    expect(readFileSync(files.pathOf(idOf('a')), 'utf8')).toBe('there');
  });
});

describe('the recordings of a directory', () => {
  it('are found after a kill, with a torn last line and without', async () => {
    const writer = await create();
    writer.add('o', 'one');
    await writer.flush();
    const path = files.pathOf(idOf('a'));
    expect(await files.find(idOf('a'))).toMatchObject({ end: undefined });
    writeFileSync(path, `${readFileSync(path, 'utf8')}[7.5,"o","two"]\n[9.1,"o","tor`);
    expect(await files.find(idOf('a'))).toMatchObject({ end: undefined, durationMs: 7500 });
    await writer.end();
  });

  it('are listed, the newest first, without other files', async () => {
    for (const [index, letter] of ['a', 'b', 'c'].entries()) {
      await (await create({ letter, timestamp: index })).end();
    }
    writeFileSync(join(directory, 'notes.txt'), 'mine');
    writeFileSync(files.pathOf(idOf('d')), 'nonsense\n');
    const ids = (await files.list()).map(({ origin }) => origin.recording_id);
    expect(ids).toEqual(['c', 'b', 'a'].map(idOf));
    expect(await files.find('../notes')).toBeUndefined();
    expect(await files.find(idOf('z'))).toBeUndefined();
    expect(await new RecordingFiles(join(directory, 'missing')).list()).toEqual([]);
  });

  it('make room, the oldest first, but not those that are being made', async () => {
    for (const [index, letter] of ['a', 'b', 'c'].entries()) {
      await (await create({ letter, timestamp: index })).end();
    }
    const { bytes = 0 } = (await files.find(idOf('c'))) ?? {};
    expect(await files.prune(3 * bytes + 100, () => false)).toEqual([]);
    expect(await files.prune(bytes, (id) => id === idOf('a'))).toEqual([idOf('b'), idOf('c')]);
    expect(readdirSync(directory)).toEqual([`${idOf('a')}.cast`]);
  });
});
