import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { TestDaemon } from '../../support/daemon.js';
import { MECHANISMS } from '../../support/machine/limit-mechanisms.js';
import { canSandbox, startSandboxed } from '../../support/sandbox.js';
import { WireClient } from '../../support/wire.js';

/** Tells its process id, and takes more and more memory. */
const HOG = `python3 -c '
import os, time
print(os.getpid(), flush=True)
held = []
while True: held.append(bytearray(2 * 2**20)); time.sleep(0.01)'`;

const PROFILES = canSandbox ? (['none', 'workspace'] as const) : (['none'] as const);
const settings = MECHANISMS.filter(({ isUsable }) => isUsable).flatMap(({ name, title }) =>
  PROFILES.map((profile) => ({ mechanism: name, title, profile })),
);

describe.each(settings)('killed_pids where $title keeps limits, in the sandbox $profile', (setting) => {
  let daemon: TestDaemon;
  let client: WireClient;

  beforeAll(async () => {
    const { mechanism, profile } = setting;
    daemon = await startSandboxed({
      settings: { adapter: { limit_mechanism: mechanism, memory_mb_limit: 64 }, sandbox: { profile } },
    });
    client = await WireClient.connect(daemon.url);
  });

  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await daemon[Symbol.asyncDispose]();
  });

  it('has the number that the process knows itself by', async () => {
    const id = await client.openSession();
    for (let round = 0; round < 2; round += 1) {
      const { stdout, killed_by, limit } = await client.run(HOG, id);
      expect(killed_by).toBe('memory');
      // Of what the kernel has killed it is known only that it has ended at that time, as others may have.
      expect(limit?.killed_pids).toContain(Number(stdout));
    }
  });

  it('has it of a command without a session', async () => {
    const { stdout, killed_by, limit } = await client.run(HOG);
    expect(killed_by).toBe('memory');
    expect(limit?.killed_pids).toContain(Number(stdout));
  });

  it('has that of the shell, where it is what was ended', async () => {
    const id = await client.openSession();
    const { stdout } = await client.run('echo $$', id);
    const result = await client.run(`exec ${HOG}`, id);
    expect(result).toMatchObject({ killed_by: 'memory', session_state: 'restarted' });
    expect(result.limit?.killed_pids).toEqual([Number(stdout)]);
  });

  it('tells what was observed in fractions as small as the limit', async () => {
    const id = await client.openSession({ limits: { cpu_seconds: 0.123 } });
    const { limit } = await client.run('while :; do :; done', id);
    expect(limit?.observed).toBeGreaterThanOrEqual(0.123);
  });
});
