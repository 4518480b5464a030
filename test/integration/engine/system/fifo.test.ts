import { closeSync, mkdtempSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { drain, makeFifos, openBoth } from '../../../../src/engine/system/fifo.js';

it('draining a pipe comes to an end, however fast it is written to', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'shell-adapter-fifo-'));
  const path = join(directory, 'fifo');
  await makeFifos([path]);
  const fd = openBoth(path);
  try {
    const block = Buffer.alloc(32 * 1024);
    writeSync(fd, block);
    let bytes = 0;
    const end = drain(fd, (chunk) => {
      bytes += chunk.length;
      writeSync(fd, block);
    });
    expect(end).toBe('held');
    // All that the pipe can have held at first was read.
    expect(bytes).toBeGreaterThanOrEqual(1024 * 1024);
    expect(drain(fd, () => undefined)).toBe('held');
  } finally {
    closeSync(fd);
    rmSync(directory, { recursive: true });
  }
});
