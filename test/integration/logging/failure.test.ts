import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type FakeStderr, makeDirectory, readLines, start, untilWritten } from './support.js';
import { eventually } from '../../support/measure.js';

const FORMAT = { log_format: '%(message)s' };
const isRoot = process.getuid?.() === 0;

/** Resolves when standard error has said that the log cannot be written. */
async function untilWarned(stderr: FakeStderr): Promise<void> {
  await eventually(() => {
    expect(stderr.text).not.toBe('');
  });
}

describe('a log that cannot be written', () => {
  it('is said once, with the reason; records are dropped, counted, and it goes on when it can be', async () => {
    const file = join(makeDirectory(), 'a.log');
    mkdirSync(file);
    const { logging, stderr } = start(file, FORMAT);
    const log = logging.component();
    let logged = 1;
    log.info('record');
    await untilWarned(stderr);
    rmSync(file, { recursive: true });
    await eventually(() => {
      logged += 1;
      log.info('record');
      expect(existsSync(file)).toBe(true);
    });
    await logging.close();
    const lines = readLines(file);
    const kept = lines.filter((line) => line === 'record').length;
    const notices = lines.filter((line) => line !== 'record');
    expect(notices).toEqual([`the log can be written again lost_records=${logged - kept}`]);
    expect(logged - kept).toBeGreaterThan(0);
    expect(stderr.text).toMatch(/^shell-adapter: cannot write the log: Error: EISDIR.*\n$/);
  });

  it.each([
    ['whose folder is a file', (base: string) => join(base, 'file/a.log'), /EEXIST|ENOTDIR/],
    ['whose folder cannot be created', () => '/proc/nowhere/a.log', /ENOENT/],
    ['that is a pipe which nobody reads', (base: string) => makePipe(base), /ENXIO/],
  ])('%s throws nothing and closes', async (_name, place, reason) => {
    const base = makeDirectory();
    writeFileSync(join(base, 'file'), '');
    const { logging, stderr } = start(place(base));
    logging.component().info('lost');
    await logging.close();
    expect(stderr.text).toMatch(reason);
    expect(stderr.text.split('\n')).toHaveLength(2);
  });

  it('because it cannot be rotated drops records rather than grow', async () => {
    const file = join(makeDirectory(), 'a.log');
    mkdirSync(`${file}.1`);
    const { logging, stderr } = start(file, { ...FORMAT, max_log_size: 30, backup_count: 1 });
    for (let index = 0; index < 20; index += 1) logging.component().info('123456789');
    await logging.close();
    expect(statSync(file).size).toBe(30);
    expect(stderr.text).toMatch(/EISDIR|ENOTEMPTY/);
  });

  it.skipIf(isRoot)('for want of permission is said', async () => {
    const directory = makeDirectory();
    chmodSync(directory, 0o500);
    const { logging, stderr } = start(join(directory, 'a.log'));
    logging.component().info('lost');
    await logging.close();
    expect(stderr.text).toContain('EACCES');
  });
});

describe('a log that is written faster than the disk takes it', () => {
  it('drops records rather than memory, and says how many', async () => {
    const file = join(makeDirectory(), 'a.log');
    const { logging } = start(file, FORMAT);
    const chunk = 'x'.repeat(64 * 1024);
    for (let index = 0; index < 200; index += 1) logging.component().info(chunk);
    await logging.close();
    const lines = readLines(file);
    const kept = lines.filter((line) => line === chunk).length;
    const lost = lines.map((line) => Number(/lost_records=(\d+)$/.exec(line)?.[1] ?? 0));
    expect(kept).toBeLessThan(200);
    expect(kept + lost.reduce((sum, count) => sum + count, 0)).toBe(200);
  });
});

describe('a full disk', () => {
  const mounted: string[] = [];

  afterEach(() => {
    for (const directory of mounted.splice(0)) run('umount', '--lazy', directory);
  });

  /** A file system of 1 MiB, or undefined where that is not permitted. */
  function mountSmallDisk(): string | undefined {
    const directory = makeDirectory();
    try {
      run('mount', '-t', 'tmpfs', '-o', 'size=1m', 'none', directory);
    } catch {
      // Not root, or root of a container that may not mount.
      return undefined;
    }
    mounted.push(directory);
    return directory;
  }

  it('loses records, never half of one, and logging goes on when there is room', async (context) => {
    const disk = mountSmallDisk();
    if (disk === undefined) return context.skip('mounting a small file system is not permitted here');
    writeFileSync(join(disk, 'ballast'), Buffer.alloc(900 * 1024));
    const file = join(disk, 'a.log');
    const { logging, stderr } = start(file, FORMAT);
    const log = logging.component();
    const line = 'y'.repeat(999);
    for (let index = 0; index < 500; index += 1) log.info(line);
    await untilWarned(stderr);
    log.info(line);
    await eventually(() => {
      expect(statSync(file).size % 1000).toBe(0);
    });
    rmSync(join(disk, 'ballast'));
    log.info('room');
    await eventually(() => {
      expect(readLines(file).some((text) => text.startsWith('the log can be written again'))).toBe(true);
    });
    log.info('last');
    await untilWritten(file, 'last');
    await logging.close();
    const lines = readLines(file);
    const kept = lines.filter((text) => text === line).length;
    expect(kept).toBeGreaterThan(50);
    expect(kept).toBeLessThan(500);
    const others = lines.filter((text) => text !== line);
    expect(others.sort()).toEqual(['last', 'room', `the log can be written again lost_records=${501 - kept}`]);
    expect(stderr.text).toMatch(/^shell-adapter: cannot write the log: Error: ENOSPC.*\n$/);
  });
});

function run(program: string, ...args: string[]): void {
  execFileSync(program, args, { stdio: 'ignore' });
}

function makePipe(base: string): string {
  const path = join(base, 'pipe');
  run('mkfifo', path);
  return path;
}
