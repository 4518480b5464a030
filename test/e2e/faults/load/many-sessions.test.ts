import { describe, expect, it } from 'vitest';

import { TestDaemon } from '../../../support/daemon.js';
import { eventually, settled } from '../../../support/measure.js';
import { descriptorCount, instanceOf, taggedProcesses, zombiesOf } from '../../../support/processes.js';
import { rounds } from '../../../support/rounds.js';
import { WireClient } from '../../../support/wire.js';

/** A thousand sessions, on a machine that may be busy. */
const LONG_TEST_MS = 180_000;

const SESSIONS = rounds(200, 100);

describe(`F28: ${SESSIONS} sessions, opened and closed`, () => {
  const AT_ONCE = 10;
  const TIMES = rounds(5, 1);

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
    'F28: descriptors back to where they were, no zombie, no process left',
    async () => {
      await using daemon = await TestDaemon.start();
      await using client = await WireClient.connect(daemon.url);
      const instance = instanceOf(daemon.pid);
      await client.request('close_session', { session_id: await client.openSession() });
      const processes = await settled(() => taggedProcesses(instance).length);
      const base = descriptorCount(daemon.pid);
      for (let round = 0; round < TIMES; round += 1) {
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

it('a session takes at most six descriptors of the daemon', async () => {
  const FEW = 20;
  await using daemon = await TestDaemon.start();
  await using client = await WireClient.connect(daemon.url);
  await client.openSession();
  const base = await settled(() => descriptorCount(daemon.pid));
  for (let count = 0; count < FEW; count += 1) await client.run('echo used', await client.openSession());
  const more = (await settled(() => descriptorCount(daemon.pid))) - base;
  expect(more / FEW).toBeLessThanOrEqual(6);
});
