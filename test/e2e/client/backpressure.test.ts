import { setFlagsFromString } from 'node:v8';
import { setImmediate } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { connect } from '../../../src/client/index.js';
import { TestDaemon } from '../../support/daemon.js';

const MIB = 1024 * 1024;
const SIZE = 40 * MIB;
/** What the reader holds back, and room for what Socket.IO and the runner hold for a moment. */
const MAX_GROWTH = 32 * MIB;

/** Numbered lines of 16 bytes: a byte that is lost, doubled or misplaced shows. */
const PRINT = `awk 'BEGIN { for (i = 0; i < ${SIZE / 16}; i++) printf "%015d\\n", i }'`;

let daemon: TestDaemon;

beforeAll(async () => {
  daemon = await TestDaemon.start();
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

/** Memory of this process that is in use, after collections: the first only finds the memory outside of the heap. */
async function usedBytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let round = 0; round < 3; round += 1) {
    collect();
    await setImmediate();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('output that nobody reads', () => {
  test.each(['in a session', 'without one'])('is let go of and read later, %s', async (where) => {
    await using client = await connect(daemon.url);
    await using session = where === 'in a session' ? await client.openSession() : undefined;
    const before = await usedBytes();
    const command = (session ?? client).execute(PRINT, { stream: true });
    expect(await command).toMatchObject({ stdout_bytes: SIZE });
    expect((await usedBytes()) - before).toBeLessThan(MAX_GROWTH);
    let lines = 0;
    let rest = '';
    for await (const { data } of command) {
      const parts = (rest + String(data)).split('\n');
      rest = parts.pop()!;
      for (const line of parts) if (Number(line) !== lines++) throw new Error(`line ${lines} is ${line}`);
    }
    expect(rest).toBe('');
    expect(lines).toBe(SIZE / 16);
  });

  test('that the daemon could not keep is an error, not a silence', async () => {
    await using small = await TestDaemon.startCold({ settings: { adapter: { spool_mb_limit: 1 } } });
    await using client = await connect(small.url);
    const command = client.execute(PRINT, { stream: true });
    expect(await command).toMatchObject({ stdout_bytes: SIZE });
    const read = async () => {
      let size = 0;
      for await (const { data } of command) size += data.length;
      return size;
    };
    await expect(read()).rejects.toMatchObject({ code: 'OUTPUT_EXPIRED' });
  });
});
