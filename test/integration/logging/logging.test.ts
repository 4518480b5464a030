import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configure, FakeStderr, listOpenFiles, makeDirectory, readLines, start } from './support.js';

describe('the log file', () => {
  it('gets a record of every component, in order, and its folder is created', async () => {
    const file = join(makeDirectory(), 'logs/deep/a.log');
    const { logging } = start(file);
    logging.component().info('started', { port: 8087 });
    logging.component('sessions').warn('odd', { id: 's 1' });
    logging.component('sessions').error('failed');
    await logging.close();
    expect(readLines(file)).toEqual([
      'INFO shell_adapter started port=8087',
      'WARNING shell_adapter.sessions odd id="s 1"',
      'ERROR shell_adapter.sessions failed',
    ]);
  });

  it("has records in Python's format", async () => {
    const file = join(makeDirectory(), 'a.log');
    const format = '%(asctime)s - %(name)s - %(levelname)s - %(message)s';
    const now = () => new Date(2026, 10, 21, 21, 43, 23, 123);
    const { logging } = start(file, { log_format: format }, { now });
    logging.component('engine').info('ready');
    await logging.close();
    expect(readLines(file)).toEqual(['2026-11-21 21:43:23,123 - shell_adapter.engine - INFO - ready']);
  });

  it("is its owner's alone", async () => {
    const file = join(makeDirectory(), 'a.log');
    const { logging } = start(file);
    logging.component().info('x');
    await logging.close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('goes on where it ended', async () => {
    const file = join(makeDirectory(), 'a.log');
    for (const message of ['one', 'two']) {
      const { logging } = start(file);
      logging.component().info(message);
      await logging.close();
    }
    expect(readLines(file)).toEqual(['INFO shell_adapter one', 'INFO shell_adapter two']);
  });

  it.each([
    ['debug', 4],
    ['INFO', 3],
    ['Warning', 2],
    ['ERROR', 1],
    ['CRITICAL', 0],
  ])('at level %s has %i of four records', async (level, count) => {
    const file = join(makeDirectory(), 'a.log');
    const { logging } = start(file, { logging_level: level });
    const log = logging.component();
    for (const method of ['debug', 'info', 'warn', 'error'] as const) log[method](method);
    await logging.close();
    expect(count === 0 ? [] : readLines(file)).toHaveLength(count);
  });

  it('has one line for a record, whatever it says', async () => {
    const file = join(makeDirectory(), 'a.log');
    const { logging } = start(file);
    logging.component().info('a\nERROR shell_adapter forged\u001b[31m', { 'k\n': 'v\r\n' });
    await logging.close();
    expect(readLines(file)).toEqual(['INFO shell_adapter a\\nERROR shell_adapter forged\\u001b[31m "k\\n"="v\\r\\n"']);
  });

  it('has every record of a burst, in order', async () => {
    const file = join(makeDirectory(), 'a.log');
    const { logging } = start(file);
    const log = logging.component();
    const messages = Array.from({ length: 20_000 }, (_, index) => `record ${index}`);
    for (const message of messages) log.info(message);
    await logging.close();
    expect(readLines(file)).toEqual(messages.map((message) => `INFO shell_adapter ${message}`));
  });

  it('may be a device, which is never rotated', async () => {
    const { logging, stderr } = start('/dev/null', { max_log_size: 1 });
    logging.component().info('x');
    await logging.close();
    expect(stderr.text).toBe('');
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });
});

describe('a change of the configuration', () => {
  it('takes effect for level, format and file, without losing a record', async () => {
    const [first, second] = ['a.log', 'b.log'].map((name) => join(makeDirectory(), name)) as [string, string];
    const { logging } = start(first);
    const log = logging.component('x');
    log.debug('too small');
    log.info('to the first');
    logging.reconfigure(configure(second, { logging_level: 'debug', log_format: '%(message)s' }));
    log.debug('to the second');
    await logging.close();
    expect([...readLines(first), ...readLines(second)]).toEqual(['INFO shell_adapter.x to the first', 'to the second']);
  });
});

describe('standard error', () => {
  const now = () => new Date(2026, 10, 21, 9, 5, 1);

  it('has records in a short form for people', async () => {
    const { logging, stderr } = start(join(makeDirectory(), 'a.log'), {}, { console: true, now });
    logging.component().info('started');
    logging.component('sessions').warn('odd', { id: 1 });
    await logging.close();
    expect(stderr.text).toBe('09:05:01 INFO started\n09:05:01 WARNING sessions: odd id=1\n');
  });

  it('has colours on a terminal', async () => {
    const stderr = new FakeStderr();
    stderr.isTTY = true;
    const { logging } = start(join(makeDirectory(), 'a.log'), {}, { console: true, now, stderr });
    logging.component().error('bad');
    await logging.close();
    expect(stderr.text).toBe('09:05:01 \u001b[31mERROR\u001b[39m bad\n');
  });

  it('has nothing when it is switched off', async () => {
    const { logging, stderr } = start(join(makeDirectory(), 'a.log'));
    logging.component().error('bad');
    await logging.close();
    expect(stderr.text).toBe('');
  });

  it('gets no more listeners with each log', () => {
    const stderr = new FakeStderr();
    for (const name of ['a', 'b', 'c']) start(join(makeDirectory(), name), {}, { stderr });
    expect(stderr.listenerCount('error')).toBe(1);
  });

  it('may break: the file goes on and nothing is thrown', async () => {
    const file = join(makeDirectory(), 'a.log');
    const stderr = new FakeStderr();
    const { logging } = start(file, {}, { console: true, stderr });
    logging.component().error('one');
    const closed = new Promise((resolve) => stderr.on('close', resolve));
    stderr.destroy(new Error('EPIPE'));
    await closed;
    logging.component().error('two');
    await logging.close();
    expect(readLines(file)).toHaveLength(2);
  });
});

describe('closing', () => {
  it('twice is harmless, and what is logged afterwards is lost', async () => {
    const file = join(makeDirectory(), 'a.log');
    const { logging, stderr } = start(file, {}, { console: true });
    const log = logging.component();
    log.info('before');
    await Promise.all([logging.close(), logging.close()]);
    log.info('after');
    await logging.close();
    expect(readLines(file)).toEqual(['INFO shell_adapter before']);
    expect(stderr.text).not.toContain('after');
  });

  it('leaves no open file', async () => {
    const file = join(makeDirectory(), 'a.log');
    const { logging } = start(file);
    logging.component().info('x');
    await logging.close();
    expect(listOpenFiles()).not.toContain(file);
  });

  it('of a log that nothing was written to makes no file', async () => {
    const directory = makeDirectory();
    mkdirSync(join(directory, 'there'));
    const file = join(directory, 'there/a.log');
    await start(file).logging.close();
    expect(() => readFileSync(file)).toThrow('ENOENT');
  });
});
