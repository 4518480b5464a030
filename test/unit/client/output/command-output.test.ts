import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { CommandOutput } from '../../../../src/client/command-output.js';
import { ClientError } from '../../../../src/client/errors.js';
import type { OutputChunk } from '../../../../src/client/output-queue.js';

const bytes = (text: string) => new TextEncoder().encode(text);

/** A daemon that has some output, and takes note of what is asked of it. */
function makeDaemon(outputs: { stdout?: Uint8Array; stderr?: Uint8Array } = {}) {
  const reads: string[] = [];
  const read = (stream: 'stdout' | 'stderr', offset: number, length: number) => {
    reads.push(`${stream} ${offset}`);
    return Promise.resolve({ data: (outputs[stream] ?? new Uint8Array()).subarray(offset, offset + length) });
  };
  return { outputs, reads, output: new CommandOutput(read) };
}

/** Reads an output to its end. */
async function readAll(output: CommandOutput): Promise<OutputChunk[]> {
  const chunks: OutputChunk[] = [];
  for await (const chunk of output.chunks()) chunks.push(chunk);
  return chunks;
}

const out = (offset: number, data: string): OutputChunk => ({ stream: 'stdout', offset, data });

describe('the output of a command', () => {
  test('ends once the command has and all of it has come', async () => {
    const { output, reads } = makeDaemon();
    const all = readAll(output);
    output.push(out(0, 'a'));
    await Promise.resolve();
    output.finish({ stdout_bytes: 2, stderr_bytes: 0 });
    output.push(out(1, 'b'));
    expect(reads).toEqual([]);
    await expect(all).rejects.toMatchObject({ code: 'OUTPUT_EXPIRED', details: { offset: 1, end: 2 } });
  });

  test('is read from the daemon where events are missing, without cutting characters', async () => {
    const truth = bytes('é'.repeat(400_000));
    const { output, reads } = makeDaemon({ stdout: truth });
    output.finish({ stdout_bytes: truth.length, stderr_bytes: 0 });
    const chunks = await readAll(output);
    expect(chunks.map(({ data }) => data).join('')).toBe('é'.repeat(400_000));
    expect(reads).toEqual(['stdout 0', 'stdout 524288']);
  });

  test('gives bytes where they are not UTF-8', async () => {
    const { output } = makeDaemon({ stdout: new Uint8Array([0x61, 0xff]) });
    output.finish({ stdout_bytes: 2, stderr_bytes: 0 });
    expect(await readAll(output)).toEqual([{ stream: 'stdout', offset: 0, data: new Uint8Array([0x61, 0xff]) }]);
  });

  test('is looked up once when events may have been missed', async () => {
    const { output, reads } = makeDaemon({ stdout: bytes('abc'), stderr: bytes('e') });
    const chunks = output.chunks();
    const next = chunks.next();
    output.noteGap();
    expect((await next).value).toEqual(out(0, 'abc'));
    expect((await chunks.next()).value).toEqual({ stream: 'stderr', offset: 0, data: 'e' });
    const later = chunks.next();
    output.push(out(3, 'd'));
    expect((await later).value).toEqual(out(3, 'd'));
    expect(reads).toEqual(['stdout 0', 'stderr 0']);
    await chunks.return();
  });

  test('that failed gives what has come, then the error', async () => {
    const { output } = makeDaemon();
    output.push(out(0, 'a'));
    output.fail(new Error('gone'));
    const chunks = output.chunks();
    expect((await chunks.next()).value).toEqual(out(0, 'a'));
    await expect(chunks.next()).rejects.toThrow('gone');
  });

  test('can be read once', async () => {
    const { output } = makeDaemon();
    output.finish({ stdout_bytes: 0, stderr_bytes: 0 });
    await readAll(output);
    await expect(readAll(output)).rejects.toMatchObject({ code: 'NOT_STREAMED' });
  });

  test('fails with what reading it fails with', async () => {
    const output = new CommandOutput(() => Promise.reject(new ClientError('COMMAND_NOT_FOUND', 'forgotten')));
    output.finish({ stdout_bytes: 1, stderr_bytes: 0 });
    await expect(readAll(output)).rejects.toMatchObject({ code: 'COMMAND_NOT_FOUND' });
  });
});

describe('the output of a command whose events no longer come', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('is asked for again and again while somebody waits for it', async () => {
    const { output, outputs, reads } = makeDaemon();
    const chunks = output.chunks();
    output.noteUnfollowed();
    const next = chunks.next();
    await vi.advanceTimersByTimeAsync(450);
    expect(reads).toHaveLength(6);
    outputs.stdout = bytes('late');
    await vi.advanceTimersByTimeAsync(200);
    expect((await next).value).toEqual(out(0, 'late'));
    await vi.advanceTimersByTimeAsync(5000);
    expect(reads).toHaveLength(8);
    expect(vi.getTimerCount()).toBe(0);
    const end = chunks.next();
    output.finish({ stdout_bytes: 4, stderr_bytes: 0 });
    expect(await end).toEqual({ done: true, value: undefined });
    expect(vi.getTimerCount()).toBe(0);
  });

  test('fails when the daemon has not kept what comes next', async () => {
    const output = new CommandOutput(() => Promise.reject(new ClientError('OUTPUT_EXPIRED', 'spool limit')));
    output.noteUnfollowed();
    await expect(readAll(output)).rejects.toMatchObject({ code: 'OUTPUT_EXPIRED' });
  });

  test('goes on when the connection breaks while it is asked for', async () => {
    let isBroken = true;
    const output = new CommandOutput((stream) =>
      isBroken
        ? Promise.reject(new ClientError('CONNECTION_LOST', 'broken'))
        : Promise.resolve({ data: bytes(stream === 'stdout' ? 'x' : '') }),
    );
    output.noteUnfollowed();
    const next = output.chunks().next();
    await vi.advanceTimersByTimeAsync(100);
    isBroken = false;
    await vi.advanceTimersByTimeAsync(200);
    expect((await next).value).toEqual(out(0, 'x'));
  });
});
