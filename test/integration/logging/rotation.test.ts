import { linkSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeDirectory, readLines, start, untilWritten } from './support.js';

/** The message is all there is in a line: with its end, 10 bytes. */
const TEN_BYTES = { log_format: '%(message)s' };
const message = (index: number) => `record ${String(index).padStart(2, '0')}`;

async function logAll(file: string, messages: readonly string[], input: object): Promise<void> {
  const { logging, stderr } = start(file, { ...TEN_BYTES, ...input });
  for (const text of messages) logging.component().info(text);
  await logging.close();
  expect(stderr.text).toBe('');
}

const range = (count: number) => Array.from({ length: count }, (_, index) => message(index));

describe('a log that is full', () => {
  it('becomes .1, that one .2, and no more are kept than configured', async () => {
    const directory = makeDirectory();
    await logAll(join(directory, 'a.log'), range(13), { max_log_size: 30, backup_count: 3 });
    expect(readdirSync(directory).sort()).toEqual(['a.log', 'a.log.1', 'a.log.2', 'a.log.3']);
    const contents = ['a.log', 'a.log.1', 'a.log.2', 'a.log.3'].map((name) => readLines(join(directory, name)));
    expect(contents).toEqual([[12], [9, 10, 11], [6, 7, 8], [3, 4, 5]].map((indices) => indices.map(message)));
  });

  it.each([
    [29, 2],
    [30, 3],
    [31, 3],
  ])('of %i bytes holds %i records of ten', async (size, count) => {
    const directory = makeDirectory();
    await logAll(join(directory, 'a.log'), range(count + 1), { max_log_size: size, backup_count: 1 });
    expect(readLines(join(directory, 'a.log.1'))).toEqual(range(count));
    expect(readLines(join(directory, 'a.log'))).toEqual([message(count)]);
  });

  it('from an earlier run counts too', async () => {
    const file = join(makeDirectory(), 'a.log');
    writeFileSync(file, 'x'.repeat(29) + '\n');
    await logAll(file, range(1), { max_log_size: 30, backup_count: 1 });
    expect(readLines(`${file}.1`)).toEqual(['x'.repeat(29)]);
    expect(readLines(file)).toEqual(range(1));
  });

  it('is emptied when no backup is to be kept', async () => {
    const directory = makeDirectory();
    await logAll(join(directory, 'a.log'), range(4), { max_log_size: 30, backup_count: 0 });
    expect(readdirSync(directory)).toEqual(['a.log']);
    expect(readLines(join(directory, 'a.log'))).toEqual([message(3)]);
  });

  it('makes way for a record that is too long for any, which gets a file of its own', async () => {
    const file = join(makeDirectory(), 'a.log');
    const long = 'x'.repeat(100);
    await logAll(file, [message(0), long, message(1)], { max_log_size: 30, backup_count: 5 });
    expect([file, `${file}.1`, `${file}.2`].map(readLines)).toEqual([[message(1)], [long], [message(0)]]);
  });

  it('that is also its own backup, by a hard link, is written all the same', async () => {
    const file = join(makeDirectory(), 'a.log');
    writeFileSync(file, 'x'.repeat(29) + '\n');
    linkSync(file, `${file}.1`);
    await logAll(file, range(2), { max_log_size: 30, backup_count: 1 });
    expect(readLines(file).at(-1)).toBe(message(1));
  });

  it('loses no record in a burst', async () => {
    const directory = makeDirectory();
    const messages = Array.from({ length: 5000 }, (_, index) => `record ${index}`);
    await logAll(join(directory, 'a.log'), messages, { max_log_size: 1000, backup_count: 1000 });
    const names = readdirSync(directory).sort((a, b) => numberOf(b) - numberOf(a));
    expect(names.flatMap((name) => readLines(join(directory, name)))).toEqual(messages);
    expect(Math.max(...names.map((name) => statSync(join(directory, name)).size))).toBeLessThanOrEqual(1000);
  });
});

describe('a log that somebody else touches', () => {
  it.each([
    ['removes', (file: string) => rmSync(file), ['two']],
    ['renames', (file: string) => renameSync(file, `${file}.old`), ['two']],
    ['removes with its folder', (file: string) => rmSync(join(file, '..'), { recursive: true }), ['two']],
    ['empties', (file: string) => truncateSync(file), ['two']],
  ])('is begun again when somebody %s it', async (_name, touch, expected) => {
    const directory = join(makeDirectory(), 'logs');
    mkdirSync(directory);
    const file = join(directory, 'a.log');
    const { logging } = start(file, TEN_BYTES);
    logging.component().info('one');
    await untilWritten(file, 'one');
    touch(file);
    logging.component().info('two');
    await logging.close();
    expect(readLines(file)).toEqual(expected);
  });
});

function numberOf(name: string): number {
  return Number(/\.(\d+)$/.exec(name)?.[1] ?? 0);
}
