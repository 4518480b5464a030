import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { runtimeDirectoriesOf } from '../../support/processes.js';
import { describeRootIf, itRootIf } from '../../support/root.js';
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

describe('a runtime directory in which commands have left what is in the way', () => {
  /** Blocks the removal of the directories of all sessions, and of the daemon's own; returns them. */
  function blockAll(daemon: TestDaemon, block: (path: string) => void): string[] {
    const all = runtimeDirectoriesOf(daemon.pid).flatMap((path) => {
      const ofShells = readdirSync(path).filter((name) => /^s\d/.test(name));
      return [path, ...ofShells.map((name) => join(path, name))];
    });
    for (const path of all) block(join(path, 'left'));
    return all;
  }

  /** Closes a session, kills the daemon and starts the next one. Returns the directories that were blocked. */
  async function useAll(block: (path: string) => void): Promise<string[]> {
    await using daemon = await TestDaemon.startCold();
    await using client = await WireClient.connect(daemon.url);
    const id = await client.openSession();
    const blocked = blockAll(daemon, block);
    expect(blocked.length).toBeGreaterThan(1);
    expect(await client.request('close_session', { session_id: id })).not.toHaveProperty('error');
    daemon.signal('SIGKILL');
    await daemon.exited;
    await using next = await TestDaemon.startCold();
    await using other = await WireClient.connect(next.url);
    expect(await other.run('echo next')).toMatchObject(echoed('next'));
    return blocked;
  }

  it('is removed, though nobody may enter some of it', async () => {
    const blocked = await useAll((path) => {
      mkdirSync(join(path, 'inner'), { recursive: true });
      chmodSync(path, 0);
    });
    expect(blocked.filter(existsSync)).toEqual([]);
  });

  itRootIf(canMount())('stays with a mount in it, and keeps no daemon from its start', async () => {
    const mounts: string[] = [];
    try {
      const blocked = await useAll((path) => {
        mkdirSync(path);
        execFileSync('mount', ['-t', 'tmpfs', 'none', path]);
        mounts.push(path);
      });
      expect(blocked.filter(existsSync)).toEqual(blocked);
    } finally {
      for (const path of mounts) execFileSync('umount', ['-l', path]);
      for (const path of mounts) rmSync(dirname(path), { recursive: true, force: true });
    }
  });
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
