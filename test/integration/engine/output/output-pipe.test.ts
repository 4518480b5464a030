import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { makeFifos, openReader } from '../../../../src/engine/system/fifo.js';
import { OutputPipe } from '../../../../src/engine/output/output-pipe.js';
import { eventually } from '../../../support/measure.js';

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
  eventually(() => {
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

  it('leaves all else its turn, however fast its writer is', async () => {
    const writer = openSync(path, 'w');
    const full = Buffer.alloc(64 * 1024);
    const turns: number[] = [];
    let chunks = 0;
    const slow = () => {
      chunks += 1;
      const start = performance.now();
      while (performance.now() - start < 2);
      // The next read finds as much again.
      writeSync(writer, full);
    };
    pipe.listen(slow);
    writeSync(writer, full);
    while (turns.length < 10 || chunks === 0) {
      const before = chunks;
      await new Promise((resolve) => setImmediate(resolve));
      turns.push(chunks - before);
    }
    closeSync(writer);
    expect(Math.max(...turns)).toBe(1);
  });

  it('tells the end of the last writer to who asks for it, and is not read on', async () => {
    const onEnd = vi.fn();
    pipe.listen(take, onEnd);
    write('a');
    await eventually(() => {
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

describe('a pipe for which there is no second descriptor', () => {
  /** Opens one reader, and another only when there may be one again. */
  function scarce(code = 'EMFILE') {
    const state = { mayOpen: true };
    const open = (file: string) => {
      if (!state.mayOpen) throw Object.assign(new Error('too many open files'), { code });
      return openReader(file);
    };
    const scarcePipe = new OutputPipe(path, open);
    state.mayOpen = false;
    return { scarcePipe, state };
  }

  // ENOENT: a command has removed its files.
  it.each(['EMFILE', 'ENOENT'])('is read all the same, and goes on when there is one (%s)', async (code) => {
    const { scarcePipe, state } = scarce(code);
    const fd = openSync(path, 'w');
    try {
      scarcePipe.listen(take);
      writeSync(fd, 'a');
      await untilReceived('a');
      state.mayOpen = true;
      writeSync(fd, 'b');
      await untilReceived('ab');
    } finally {
      closeSync(fd);
      scarcePipe.close();
    }
  });

  it('tells the end', async () => {
    const { scarcePipe } = scarce();
    const onEnd = vi.fn();
    write('a');
    scarcePipe.listen(take, onEnd);
    await eventually(() => {
      expect(onEnd).toHaveBeenCalledOnce();
    });
    expect(received).toBe('a');
    scarcePipe.close();
  });

  it('is not read any more once it was released', () => {
    const { scarcePipe } = scarce();
    scarcePipe.listen(take);
    expect(scarcePipe.isListening).toBe(true);
    scarcePipe.release();
    expect(scarcePipe.isListening).toBe(false);
    scarcePipe.close();
  });
});
