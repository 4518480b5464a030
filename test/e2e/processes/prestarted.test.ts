import { readFileSync } from 'node:fs';

import { expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { eventually, settled } from '../../support/measure.js';
import { cpuMs, instanceOf, taggedProcesses } from '../../support/processes.js';
import { WireClient } from '../../support/wire.js';

/** A name that processes which have just ended do not have. */
function nameOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return undefined;
  }
}

it('a shell of a kind that is in use is started ahead', async () => {
  await using daemon = await TestDaemon.start();
  await using client = await WireClient.connect(daemon.url);
  const pidIn = async (id: string) => Number((await client.run('echo $$', id)).stdout);
  const instance = instanceOf(daemon.pid);
  const shells = () => taggedProcesses(instance).flatMap(({ pid }) => (nameOf(pid) === 'dash' ? pid : []));
  expect(shells()).toEqual([]);
  const first = await pidIn(await client.openSession({ shell: 'sh' }));
  await eventually(() => {
    expect(shells()).toHaveLength(2);
  });
  // It is there, and then ready.
  await settled(() => cpuMs(shells().find((pid) => pid !== first) ?? first));
  const ahead = shells().find((pid) => pid !== first);
  expect(await pidIn(await client.openSession({ shell: 'sh' }))).toBe(ahead);
});
