import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { makeFifos } from '../../../src/engine/fifo.js';
import { OutputPipe } from '../../../src/engine/output-pipe.js';

let directory: string;
let path: string;
let pipe: OutputPipe;
let received: string;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'output-pipe-'));
  path = join(directory, 'out');
  await makeFifos([path]);
  pipe = new OutputPipe(path);
  received = '';
});

afterEach(() => {
  pipe.close();
  rmSync(directory, { recursive: true });
});

const take = (chunk: Buffer) => {
  received += chunk.toString();
};

/** Opens the pipe, writes, and closes it again, as a process does. */
function write(text: string): void {
  const fd = openSync(path, 'w');
  writeSync(fd, text);
  closeSync(fd);
}

const untilReceived = (text: string) =>
  vi.waitFor(() => {
    expect(received).toBe(text);
  });

describe('a pipe that is listened to', () => {
  it('is read on when a writer has come and gone before the command’s own', async () => {
    pipe.listen(take);
    write('');
    write('a');
    await untilReceived('a');
    write('b');
    await untilReceived('ab');
    expect(pipe.isListening).toBe(true);
  });

  it('tells the end of the last writer to who asks for it, and is not read on', async () => {
    const onEnd = vi.fn();
    pipe.listen(take, onEnd);
    write('a');
    await vi.waitFor(() => {
      expect(onEnd).toHaveBeenCalledOnce();
    });
    expect(received).toBe('a');
    expect(pipe.isListening).toBe(false);
  });

  it('gives what comes after its release to whoever drains it', async () => {
    pipe.listen(take);
    write('a');
    await untilReceived('a');
    pipe.release();
    const writer = openSync(path, 'w');
    writeSync(writer, 'b');
    expect(pipe.drain(take)).toBe('held');
    closeSync(writer);
    expect(pipe.drain(take)).toBe('free');
    expect(received).toBe('ab');
  });
});
