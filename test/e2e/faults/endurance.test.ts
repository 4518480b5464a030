import { describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { eventually, percentile, settled, timed } from '../../support/measure.js';
import { descriptorCount, instanceOf, residentBytes, taggedProcesses, zombiesOf } from '../../support/processes.js';
import { WireClient } from '../../support/wire.js';

/** Thousands of commands, on a machine that may be busy. */
const LONG_TEST_MS = 180_000;

/** V8 takes what it is given: with a small heap, garbage does not look like a leak. */
const SMALL_HEAP = { env: { NODE_OPTIONS: '--max-old-space-size=96' } };

/** One-shots that wait for their command, each with a descriptor; as many may be missing at the first count. */
const PREWARMED = 4;

describe('F27: 10,000 commands in one session', () => {
  const COMMANDS = 10_000;
  /** By then the caches of V8 and of the allocator have their size. */
  const WARM_UP = 2000;
  /** Below this the clock and the scheduler of a shared machine are most of what is measured. */
  const NOISE_MS = 5;

  it(
    'F27: descriptors are the same, memory within 10 %, the last thousand as fast as the first',
    async () => {
      await using daemon = await TestDaemon.start(SMALL_HEAP);
      await using client = await WireClient.connect(daemon.url);
      const id = await client.openSession();
      const times: number[] = [];
      let [descriptors, memory] = [0, 0];
      for (let number = 1; number <= COMMANDS; number += 1) {
        const { ms, value } = await timed(() => client.run(`echo ${number}`, id));
        expect(value.stdout).toBe(`${number}\n`);
        times.push(ms);
        client.events.length = 0;
        if (number === WARM_UP) [descriptors, memory] = [descriptorCount(daemon.pid), residentBytes(daemon.pid)];
      }
      expect(descriptorCount(daemon.pid)).toBeLessThanOrEqual(descriptors);
      expect(residentBytes(daemon.pid)).toBeLessThan(memory * 1.1);
      const [first, last] = [times.slice(0, 1000), times.slice(-1000)].map((part) => percentile(part, 0.99));
      expect(last).toBeLessThan(Math.max(2 * first!, NOISE_MS));
      expect(zombiesOf(daemon.pid)).toEqual([]);
    },
    LONG_TEST_MS,
  );

  it(
    'F27: 4,000 one-shots leave descriptors, memory and processes as they were',
    async () => {
      await using daemon = await TestDaemon.start(SMALL_HEAP);
      await using client = await WireClient.connect(daemon.url);
      const runMany = async (count: number) => {
        for (let number = 0; number < count; number += 4) {
          const answers = await Promise.all([0, 1, 2, 3].map((index) => client.run(`echo ${number + index}`)));
          expect(answers.map(({ stdout }) => Number(stdout) - number)).toEqual([0, 1, 2, 3]);
        }
      };
      await runMany(2000);
      const [descriptors, memory] = [descriptorCount(daemon.pid), residentBytes(daemon.pid)];
      await runMany(2000);
      await eventually(() => {
        expect(descriptorCount(daemon.pid)).toBeLessThanOrEqual(descriptors + PREWARMED);
      });
      expect(residentBytes(daemon.pid)).toBeLessThan(memory * 1.1);
      expect(zombiesOf(daemon.pid)).toEqual([]);
    },
    LONG_TEST_MS,
  );
});

describe('F28: 200 sessions, opened and closed', () => {
  const SESSIONS = 200;
  const AT_ONCE = 10;

  async function openUseClose(client: WireClient): Promise<void> {
    const ids: string[] = [];
    for (let open = 0; open < SESSIONS; open += AT_ONCE) {
      ids.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => client.openSession()))));
    }
    for (let index = 0; index < SESSIONS; index += AT_ONCE) {
      const part = ids.slice(index, index + AT_ONCE);
      const answers = await Promise.all(part.map((id, at) => client.run(`echo ${index + at}`, id)));
      expect(answers.map(({ stdout }) => Number(stdout))).toEqual(part.map((_, at) => index + at));
      await client.run('setsid sleep 300 &', part[0]);
    }
    for (let index = 0; index < SESSIONS; index += AT_ONCE) {
      const part = ids.slice(index, index + AT_ONCE);
      await Promise.all(part.map((id) => client.request('close_session', { session_id: id })));
    }
  }

  it(
    'F28: five times over: descriptors back to where they were, no zombie, no process left',
    async () => {
      await using daemon = await TestDaemon.start();
      await using client = await WireClient.connect(daemon.url);
      const instance = instanceOf(daemon.pid);
      await client.request('close_session', { session_id: await client.openSession() });
      const processes = await settled(() => taggedProcesses(instance).length);
      const base = descriptorCount(daemon.pid);
      for (let round = 0; round < 5; round += 1) {
        await openUseClose(client);
        client.events.length = 0;
        await eventually(() => {
          expect(descriptorCount(daemon.pid)).toBeLessThanOrEqual(base);
          expect(taggedProcesses(instance)).toHaveLength(processes);
          expect(zombiesOf(daemon.pid)).toEqual([]);
        });
      }
      expect((await client.request('list_sessions', {})).sessions).toEqual([]);
    },
    LONG_TEST_MS,
  );
});
