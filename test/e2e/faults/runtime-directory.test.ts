import { existsSync, readFileSync, rmSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { runtimeDirectoriesOf } from '../../support/processes.js';
import { describeRootIf } from '../../support/root.js';
import { canSandbox } from '../../support/sandbox.js';
import { canMount } from '../../support/machine/tmpfs.js';
import { WireClient } from '../../support/wire.js';

const echoed = (text: string) => ({ stdout: `${text}\n`, stderr: '', exit_code: 0, status: 'completed' });

describe('a runtime directory that somebody removes, as systemd-logind does at the last logout', () => {
  it.each(['none', ...(canSandbox ? (['workspace'] as const) : [])] as const)(
    'sandbox %s: everything goes on, but for the shells that have lost their files',
    async (sandbox) => {
      await using daemon = await TestDaemon.start({ settings: { sandbox: { profile: sandbox } } });
      await using client = await WireClient.connect(daemon.url);
      const id = await client.openSession();
      await client.run('cd /', id);
      for (const directory of runtimeDirectoriesOf(daemon.pid)) rmSync(directory, { recursive: true });
      expect(await client.run('echo one-shot')).toMatchObject(echoed('one-shot'));
      expect(await client.run('echo', undefined, { args: ['program'] })).toMatchObject(echoed('program'));
      expect(await client.run('echo new', await client.openSession())).toMatchObject(echoed('new'));
      expect(await client.run('echo old', id)).toMatchObject({ status: 'killed', session_state: 'restarted' });
      expect(await client.run('echo again', id)).toMatchObject(echoed('again'));
    },
  );
});

describeRootIf(canMount())('daemons in other containers that share directories', () => {
  it('leave each other alone, though they do not see each other’s processes', async () => {
    await using first = await TestDaemon.start();
    await using client = await WireClient.connect(first.url);
    const id = await client.openSession();
    const directories = runtimeDirectoriesOf(first.pid);
    {
      await using second = await TestDaemon.start({
        launcher: ['unshare', '-p', '-f', '--mount-proc', '--kill-child'],
      });
      await using other = await WireClient.connect(second.url);
      expect((await other.run('echo there')).stdout).toBe('there\n');
      // The launcher passes no signals on.
      process.kill(Number(readFileSync(`/proc/${second.pid}/task/${second.pid}/children`, 'utf8')), 'SIGTERM');
      await second.exited;
    }
    expect(directories.filter(existsSync)).toEqual(directories);
    expect(await client.run('echo session', id)).toMatchObject(echoed('session'));
    expect(await client.run('echo one-shot')).toMatchObject(echoed('one-shot'));
  });
});
