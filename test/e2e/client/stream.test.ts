import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type AdapterClient, type ClientCommand, connect, type OutputChunk } from '../../../src/client/index.js';
import { TestDaemon } from '../../support/daemon.js';

let daemon: TestDaemon;
let client: AdapterClient;

beforeAll(async () => {
  daemon = await TestDaemon.start();
  client = await connect(daemon.url);
});

afterAll(async () => {
  await client.close();
  await daemon[Symbol.asyncDispose]();
});

/** Reads a command's output to its end. */
async function readAll(command: ClientCommand): Promise<OutputChunk[]> {
  const chunks: OutputChunk[] = [];
  for await (const chunk of command) chunks.push(chunk);
  return chunks;
}

const textOf = (chunks: readonly OutputChunk[], stream: OutputChunk['stream']): string =>
  chunks
    .filter((chunk) => chunk.stream === stream)
    .map(({ data }) => data)
    .join('');

describe('output that is iterated', () => {
  test('comes while the command runs, both streams in order', async () => {
    await using session = await client.openSession();
    const seen: string[] = [];
    for await (const { stream, data } of session.execute(
      'for i in 1 2 3; do echo o$i; read -r; echo e$i >&2; read -r; done',
      { stream: true },
    )) {
      seen.push(`${stream} ${String(data)}`);
      await session.sendInput('\n');
    }
    expect(seen.join('')).toBe([1, 2, 3].map((i) => `stdout o${i}\nstderr e${i}\n`).join(''));
  });

  test.each(['in a session', 'without one'])('is exact %s, whatever the bytes', async (where) => {
    await using session = where === 'in a session' ? await client.openSession() : undefined;
    const file = join(daemon.directory, 'bytes');
    const truth = Buffer.from(Array.from({ length: 400_000 }, (_, i) => (i * 7919 + (i >> 8)) & 255));
    writeFileSync(file, truth);
    const command = (session ?? client).execute(`cat ${file}; printf 'é漢😀' >&2`, { stream: true });
    const chunks = await readAll(command);
    const bytes = chunks.filter(({ stream }) => stream === 'stdout').map(({ data }) => Buffer.from(data));
    expect(Buffer.concat(bytes).equals(truth)).toBe(true);
    expect(textOf(chunks, 'stderr')).toBe('é漢😀');
    expect(chunks.every(({ data }) => typeof data === 'string' || data.constructor === Uint8Array)).toBe(true);
    expect(await command).toMatchObject({ stdout_bytes: truth.length });
  });

  test('of a background command ends with it', async () => {
    await using session = await client.openSession();
    const command = session.execute('echo a; read -r; echo b', { background: true, stream: true });
    expect(await command).toMatchObject({ status: 'running' });
    const seen: unknown[] = [];
    for await (const { data } of command) {
      if (seen.push(data) === 1) await command.sendInput('\n');
    }
    expect(seen).toEqual(['a\n', 'b\n']);
    expect(await command.wait()).toMatchObject({ exit_code: 0 });
  });

  test('can be left early: the command goes on', async () => {
    await using session = await client.openSession();
    const command = session.execute('echo a; read -r; echo b', { stream: true });
    for await (const chunk of command) {
      expect(chunk.data).toBe('a\n');
      break;
    }
    await session.sendInput('\n');
    expect(await command).toMatchObject({ stdout: 'a\nb\n', exit_code: 0 });
  });

  test('is refused where it was not asked for, and the second time', async () => {
    const plain = client.execute('echo x');
    expect(() => plain[Symbol.asyncIterator]()).toThrow(expect.objectContaining({ code: 'NOT_STREAMED' }));
    await plain;
    const streamed = client.execute('echo x', { stream: true });
    expect(textOf(await readAll(streamed), 'stdout')).toBe('x\n');
    await expect(readAll(streamed)).rejects.toMatchObject({ code: 'NOT_STREAMED' });
  });

  test('ends with the error that keeps the command from running', async () => {
    const command = client.execute('true', { cwd: '/no/such/place', stream: true });
    await expect(readAll(command)).rejects.toMatchObject({ code: 'BAD_DIRECTORY' });
  });
});

describe('events', () => {
  test('reach listeners, typed, until they are removed', async () => {
    await using session = await client.openSession();
    const outputs: string[] = [];
    const remove = client.on('command_output', ({ data, session_id }) => outputs.push(`${session_id} ${String(data)}`));
    await session.execute('echo one', { stream: true });
    remove();
    await session.execute('echo two', { stream: true });
    expect(outputs).toEqual([`${session.id} one\n`]);
  });

  test('of one session do not reach the listeners of another', async () => {
    await using first = await client.openSession();
    await using second = await client.openSession();
    const outputs: unknown[] = [];
    first.on('command_output', ({ data }) => outputs.push(data));
    await second.execute('echo second', { stream: true });
    await first.execute('echo first', { stream: true });
    expect(outputs).toEqual(['first\n']);
  });

  test('that come before a listener throws are not lost to the others', async () => {
    await using session = await client.openSession();
    const outputs: unknown[] = [];
    const listeners = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    const raised = once(process, 'uncaughtException');
    session.on('command_output', () => {
      throw new Error('a fault of the program');
    });
    session.on('command_output', ({ data }) => outputs.push(data));
    await session.execute('echo x', { stream: true });
    const [error] = (await raised) as [Error];
    for (const listener of listeners) process.on('uncaughtException', listener);
    expect(error.message).toBe('a fault of the program');
    expect(outputs).toEqual(['x\n']);
  });
});
