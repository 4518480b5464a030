import { execFile, spawn } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { StdinPipe } from '../../../../src/engine/output/stdin-pipe.js';

const run = promisify(execFile);

let folder: string;
let pipe: StdinPipe;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'shell-adapter-stdin-'));
  pipe = new StdinPipe(join(folder, 'fifos', '1'));
  await pipe.make();
});
afterEach(() => {
  pipe.close();
  rmSync(folder, { recursive: true, force: true });
});

it('keeps input that has ended before the program was started, until the program has opened it', async () => {
  const path = join(folder, 'stdin');
  pipe.offerOpenAt(path);
  pipe.write(Buffer.from('in\n'));
  pipe.end();
  // Time for the kernel to take the bytes, and for the pipe to notice.
  await run('true');
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  pipe.noteOpened();
  const program = spawn('cat', { stdio: [fd, 'pipe', 'ignore'] });
  closeSync(fd);
  expect(await text(program.stdout!)).toBe('in\n');
});
