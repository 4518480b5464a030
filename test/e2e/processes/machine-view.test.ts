import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import { ROOT_MARK } from '../../support/root.js';
import { canMount } from '../../support/machine/tmpfs.js';
import { WireClient } from '../../support/wire.js';

const NO_GROUPS = ['unshare', '--mount', 'sh', '-c', 'umount -l /sys/fs/cgroup && exec "$@"', 'sh'];

/** As this user finds the machine, and for root also as users find it who cannot write to control groups. */
const MACHINES: readonly { readonly name: string; readonly launcher: readonly string[]; readonly isUsable: boolean }[] =
  [
    { name: 'as it is', launcher: [], isUsable: true },
    { name: `without control groups ${ROOT_MARK}`, launcher: NO_GROUPS, isUsable: canMount() },
  ];

/** Tells whether the process of this test is listed, and whether a signal reaches it. */
const LOOK = `ps -e -o pid= | grep -qw ${process.pid} && kill -0 ${process.pid} && echo seen || echo unseen`;

const PRIVILEGES = /^NoNewPrivs:.*$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[0];

const metadataOf = async (client: WireClient) => (await client.request('shell_metadata', {})).resource_limits;

describe.each(MACHINES)('on the machine $name', ({ launcher, isUsable }) => {
  const start = () => TestDaemon.start({ launcher });

  describe.skipIf(!isUsable)('with nothing configured, commands see all processes', () => {
    let daemon: TestDaemon;
    let client: WireClient;

    beforeAll(async () => {
      daemon = await start();
      client = await WireClient.connect(daemon.url);
    });

    afterAll(async () => {
      await client[Symbol.asyncDispose]();
      await daemon[Symbol.asyncDispose]();
    });

    it.each(['bash', 'zsh', 'sh'])('in a session with %s', async (shell) => {
      const id = await client.openSession({ shell });
      expect(await client.run(LOOK, id)).toMatchObject({ stdout: 'seen\n' });
      await client.request('close_session', { session_id: id });
    });

    it.each([[undefined], [['-c', LOOK]]])('without a session', async (args) => {
      expect(await client.run(args ? 'sh' : LOOK, undefined, { args })).toMatchObject({ stdout: 'seen\n' });
    });

    it('and programs such as sudo can gain rights as they can elsewhere', async () => {
      const { stdout } = await client.run('grep ^NoNewPrivs: /proc/self/status', await client.openSession());
      expect(stdout.trim()).toBe(PRIVILEGES);
    });

    it('a session or a command with limits is in a namespace where that is the best mechanism', async () => {
      const { mechanism, mechanism_in_use: inUse } = await metadataOf(client);
      expect(inUse).toBe(mechanism === 'pid_namespace' ? 'polling' : mechanism);
      const limits = { processes: 500 };
      const wanted = { stdout: mechanism === 'pid_namespace' ? 'unseen\n' : 'seen\n', stderr: '' };
      const id = await client.openSession({ limits });
      expect(await client.run(LOOK, id)).toMatchObject(wanted);
      expect(await client.run(LOOK, undefined, { limits })).toMatchObject(wanted);
      // It is gone with its shell, and the next one is as the first.
      expect(await client.run('kill -9 $$', id)).toMatchObject({ session_state: 'restarted' });
      expect(await client.run(LOOK, id)).toMatchObject(wanted);
      // Others are as before.
      expect(await client.run(LOOK, await client.openSession())).toMatchObject({ stdout: 'seen\n' });
    });

    it('a limit of a single command in a session without limits is kept, and the session still sees them', async () => {
      const id = await client.openSession();
      const hog = 'python3 -c "import time; a = bytearray(300 * 2**20); time.sleep(300)"';
      const result = await client.run(hog, id, { limits: { memory_mb: 100 } });
      expect(result).toMatchObject({ killed_by: 'memory', session_state: 'alive' });
      expect(await client.run(LOOK, id)).toMatchObject({ stdout: 'seen\n' });
    });
  });

  it.skipIf(!isUsable)('limits of the configuration apply to all that is started after they have come', async () => {
    await using daemon = await start();
    await using client = await WireClient.connect(daemon.url);
    const before = await client.openSession();
    const { mechanism } = await metadataOf(client);
    const file = join(daemon.directory, 'config.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('adapter:\n', 'adapter:\n  process_limit: 500\n'));
    daemon.signal('SIGHUP');
    await eventually(async () => {
      expect(await metadataOf(client)).toMatchObject({ processes: 500, mechanism_in_use: mechanism });
    });
    const wanted = { stdout: mechanism === 'pid_namespace' ? 'unseen\n' : 'seen\n' };
    expect(await client.run(LOOK, await client.openSession())).toMatchObject(wanted);
    expect(await client.run(LOOK)).toMatchObject(wanted);
    expect(await client.run(LOOK, before)).toMatchObject({ stdout: 'seen\n' });
  });

  it.skipIf(!isUsable)('the log tells at the start what is in use, and what would be', async () => {
    const logAt = async (level: string, adapter: Record<string, unknown> = {}) => {
      await using daemon = await TestDaemon.startCold({
        launcher,
        settings: { adapter, logging: { logging_level: level } },
      });
      await using client = await WireClient.connect(daemon.url);
      return { log: daemon.output, mechanism: (await metadataOf(client)).mechanism };
    };
    const { log, mechanism } = await logAt('debug');
    expect(log).toContain(`limit mechanism mechanism=${mechanism} without_limits=`);
    expect(log.includes('without_limits=polling')).toBe(mechanism === 'pid_namespace' || mechanism === 'polling');
    // A user who has set no limit is told nothing of mechanisms.
    expect((await logAt('info')).log).not.toContain('limit');
    expect((await logAt('info', { process_limit: 500 })).log).toContain('resource limits are enforced by ');
  });
});
