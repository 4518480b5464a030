import { mkdtempSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { MB } from '../../../src/core/limits.js';
import { TestDaemon } from '../../support/daemon.js';
import { MECHANISMS } from '../../support/machine/limit-mechanisms.js';
import { eventually } from '../../support/measure.js';
import { canLimitPids, PidsLimit } from '../../support/machine/pids-limit.js';
import { describeRootIf } from '../../support/root.js';
import { WireClient } from '../../support/wire.js';

/** Memory of the container that the daemon believes to be in, in MB: the safety net is half of it. */
const CONTAINER_MB = 600;
/** Processes that the container may have: a bomb that gets away ends here. */
const CONTAINER_PROCESSES = 1500;

const canUseGroups = MECHANISMS.some(({ name, isUsable }) => name === 'cgroup1' && isUsable) && canLimitPids();

/** A control group that bounds memory, removed when it is disposed of. */
class MemoryLimit implements AsyncDisposable {
  readonly path = mkdtempSync('/sys/fs/cgroup/memory/shell-adapter-test-');

  constructor(megabytes: number) {
    writeFileSync(join(this.path, 'memory.limit_in_bytes'), String(megabytes * MB));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await eventually(() => {
      rmdirSync(this.path);
    });
  }
}

describeRootIf(canUseGroups)('a daemon without any limit configured', () => {
  it('keeps a memory hog and a fork bomb from taking the machine, and says what ended them', async () => {
    await using pids = new PidsLimit();
    await using memory = new MemoryLimit(CONTAINER_MB);
    pids.set(CONTAINER_PROCESSES);
    const launcher = ['sh', '-c', `echo $$ >'${memory.path}/cgroup.procs'; exec "$@"`, 'sh', ...pids.launcher];
    await using daemon = await TestDaemon.start({ launcher, settings: { adapter: { limit_mechanism: 'cgroup1' } } });
    await using client = await WireClient.connect(daemon.url);
    const { resource_limits: limits } = await client.request('shell_metadata', {});
    expect(limits).toMatchObject({
      memory_mb: null,
      safety_net: { memory_mb: CONTAINER_MB / 2, processes: 1024, disk_free_mb: expect.any(Number) as number },
    });
    const id = await client.openSession();
    const hog = await client.run(`python3 -c 'bytearray(450 * 2**20)'`, id);
    expect(hog).toMatchObject({ killed_by: 'memory', limit: { limit: CONTAINER_MB / 2 }, session_state: 'alive' });
    const bomb = await client.run('bomb() { bomb | bomb & }; bomb; sleep 20', id, { timeout_ms: 30_000 });
    expect(bomb).toMatchObject({ killed_by: 'processes', limit: { resource: 'processes', limit: 1024 } });
    expect(await client.run('echo usable', id)).toMatchObject({ stdout: 'usable\n' });
  });

  it('by polling a fork bomb is ended with all that it became', async () => {
    await using pids = new PidsLimit();
    pids.set(CONTAINER_PROCESSES);
    const adapter = { limit_mechanism: 'polling', process_limit: 100 };
    await using daemon = await TestDaemon.start({ launcher: pids.launcher, settings: { adapter } });
    await using client = await WireClient.connect(daemon.url);
    const before = pids.current;
    for (const session_id of [await client.openSession(), undefined]) {
      const bomb = await client.run('bomb() { bomb | bomb & }; bomb; sleep 20', session_id, { timeout_ms: 30_000 });
      expect(bomb).toMatchObject({ status: 'killed', killed_by: 'processes', limit: { limit: 100 } });
      await eventually(() => {
        expect(pids.current).toBeLessThan(before + 20);
      });
    }
  });
});

describe('the safety net', () => {
  it('bounds what clients may ask for, and can be switched off', async () => {
    await using daemon = await TestDaemon.start({ settings: { adapter: { safety_net: false } } });
    await using client = await WireClient.connect(daemon.url);
    const { resource_limits: limits } = await client.request('shell_metadata', {});
    expect(limits.safety_net).toMatchObject({ memory_mb: null, processes: null, disk_free_mb: null });
    const { limits: granted } = await client.request('open_session', { limits: { processes: 5000 } });
    expect(granted).toMatchObject({ processes: 5000, memory_mb: null });
  });
});
