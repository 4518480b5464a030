import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../../support/daemon.js';
import { MECHANISMS } from '../../../support/machine/limit-mechanisms.js';
import { eventually } from '../../../support/measure.js';
import { instanceOf, taggedProcesses } from '../../../support/processes.js';
import { WireClient } from '../../../support/wire.js';

/** Of memory: takes too much a moment later, and keeps it. */
const HOG = `python3 -c 'import time; time.sleep(0.5); held = bytearray(150 * 2**20); time.sleep(300)' &`;

/** Many times the second after which more than commands is ended. */
const ROUNDS = 40;
/** Commands of a session, of which the first is ended with what it has met. */
const BESIDE_HOG = 15;

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

/** Writes until it is ended. */
const WRITER = 'while head -c 1M /dev/zero; do sleep 0.01; done >f';

/** What uses too much without end, what it is limited to, and words of its command line. */
const ENDLESS = [
  // Less than a busy machine leaves to one loop of many.
  ['CPU time', { cpu_percent: 15 }, "sh -c 'while :; do :; done; : hog'"],
  ['of a disk', { disk_mb: 30 }, "sh -c 'while head -c 2M /dev/zero; do sleep 0.05; done >hog; : hog'"],
] as const;

describe.each(MECHANISMS)('a background process that takes too much, with limits kept by $title', (mechanism) => {
  describe.skipIf(!mechanism.isUsable)('a daemon', () => {
    let daemon: TestDaemon;
    let client: WireClient;

    beforeAll(async () => {
      daemon = await TestDaemon.start({ settings: { adapter: { limit_mechanism: mechanism.name, cpu_window: 1 } } });
      client = await WireClient.connect(daemon.url);
    });

    afterAll(async () => {
      await client[Symbol.asyncDispose]();
      await daemon[Symbol.asyncDispose]();
    });

    it.each(ENDLESS)('%s: costs one command at most, and then itself', async (_, limits, hog) => {
      const id = await client.openSession({ limits });
      await client.run(`KEPT=yes; ${hog} 2>/dev/null &`, id);
      const isThere = () => taggedProcesses(instanceOf(daemon.pid)).some(({ command }) => command.includes(': hog'));
      const killers: (string | null)[] = [];
      for (let round = 0; isThere() && round < ROUNDS; round += 1) {
        const result = await client.run('sleep 0.3; echo "$KEPT"', id);
        killers.push(result.killed_by);
        if (result.killed_by === null) expect(result).toMatchObject({ stdout: 'yes\n', session_state: 'alive' });
      }
      expect(isThere()).toBe(false);
      expect(killers.filter((killedBy) => killedBy !== null).length).toBeLessThanOrEqual(1);
      await client.request('close_session', { session_id: id });
    });

    it('a command that takes too much is ended, and not what was there before', async () => {
      const id = await client.openSession({ limits: { disk_mb: 20 } });
      const pid = (await client.run('sleep 300 >/dev/null 2>&1 & echo $!', id)).stdout.trim();
      const result = await client.run(WRITER, id);
      expect(result).toMatchObject({ killed_by: 'disk', session_state: 'alive' });
      expect(await client.run(`kill -0 ${pid} && echo on`, id)).toMatchObject({ stdout: 'on\n' });
      await client.request('close_session', { session_id: id });
    });

    it('commands that take too much again and again are ended, each of them, and the session goes on', async () => {
      const id = await client.openSession({ limits: { disk_mb: 20 } });
      await client.run('KEPT=yes; sleep 300 >/dev/null 2>&1 &', id);
      for (let round = 0; round < 4; round += 1) {
        expect(await client.run(WRITER, id)).toMatchObject({ killed_by: 'disk', session_state: 'alive' });
        expect(await client.run('echo $KEPT', id)).toMatchObject({ stdout: 'yes\n' });
      }
      await client.request('close_session', { session_id: id });
    });

    it('commands that begin when it is ended are as they would be without it', async () => {
      const row = async () => {
        const id = await client.openSession({ limits: { disk_mb: 10 } });
        await client.run('(sleep 0.1; while head -c 3M /dev/zero; do :; done) >hog 2>/dev/null &', id);
        const results = [];
        for (let round = 0; round < BESIDE_HOG; round += 1) {
          results.push(await client.run('for i in 1 2 3; do /bin/true; done; (sleep 0.01; echo on) | cat', id));
        }
        await client.request('close_session', { session_id: id });
        return results;
      };
      const results = (await Promise.all([row(), row(), row()])).flat();
      for (const result of results) {
        // The first one that it meets is ended for it.
        if (result.limit === null) expect(result).toMatchObject({ stdout: 'on\n', exit_code: 0, killed_by: null });
        else expect(result).toMatchObject({ killed_by: 'disk', exit_code: 137 });
      }
      expect(results.filter(({ limit }) => limit !== null).length).toBeLessThanOrEqual(3);
    });
  });
});
