import { describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import { instanceOf, taggedProcesses } from '../../support/processes.js';
import { WireClient } from '../../support/wire.js';

/** Takes too much a moment later, and keeps it. */
const HOG = `python3 -c 'import time; time.sleep(0.5); held = bytearray(150 * 2**20); time.sleep(300)' &`;

/** Many times the second after which more than commands is ended. */
const ROUNDS = 40;

describe('F14: a background process that takes too much memory, where limits are kept by looking', () => {
  it('is ended, however many commands are run one after another', async () => {
    await using daemon = await TestDaemon.start({ settings: { adapter: { limit_mechanism: 'polling' } } });
    await using client = await WireClient.connect(daemon.url);
    const id = await client.openSession({ limits: { memory_mb: 100 } });
    await client.run(HOG, id);
    const isThere = () => taggedProcesses(instanceOf(daemon.pid)).some(({ command }) => command.includes('bytearray'));
    await eventually(() => {
      expect(isThere()).toBe(true);
    });
    // Shorter than the second after which more than commands is ended.
    for (let round = 0; isThere() && round < ROUNDS; round += 1) await client.run('sleep 0.2', id);
    expect(isThere()).toBe(false);
    await client.request('reset_session', { session_id: id });
    expect(await client.run('sleep 0.2; echo on', id)).toMatchObject({ stdout: 'on\n', killed_by: null });
  });
});
