import { rmSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { describeRoot, itRoot } from '../../support/root.js';
import { WireClient } from '../../support/wire.js';

describe('bounds', () => {
  it('limits are lowered, never raised; what is refused changes nothing', async () => {
    const adapter = { memory_mb_limit: 200, process_limit: 50 };
    await using daemon = await TestDaemon.start({ settings: { adapter } });
    await using client = await WireClient.connect(daemon.url);
    const refused = { code: 'INVALID_REQUEST', details: { field: 'limits.memory_mb', max: 200 } };
    expect((await client.request('open_session', { limits: { memory_mb: 201 } })).error).toMatchObject(refused);
    expect((await client.run('true', undefined, { limits: { memory_mb: 201 } })).error).toMatchObject(refused);
    expect((await client.request('list_sessions', {})).sessions).toEqual([]);
    const answer = await client.request('open_session', { limits: { memory_mb: 100, disk_mb: 5 } });
    const limits = { cpu_percent: null, cpu_seconds: null, memory_mb: 100, processes: 50, disk_mb: 5 };
    expect(answer.limits).toEqual(limits);
    const id = answer.session_id;
    expect((await client.request('get_session', { session_id: id })).limits).toEqual(limits);
    expect((await client.run('true', id, { limits: { memory_mb: 150 } })).error).toMatchObject({
      message: 'limits.memory_mb: at most 100 (what the session was opened with)',
    });
    for (const wrong of [
      { memory_mb: 0 },
      { memory_mb: -1 },
      { processes: 1.5 },
      { memory: 1 },
      { cpu_percent: 'x' },
    ]) {
      const { error } = await client.request('open_session', { limits: wrong as never });
      expect(error?.code).toBe('INVALID_REQUEST');
    }
    expect(await client.run('echo on', id)).toMatchObject({ stdout: 'on\n' });
  });

  // unshare(1) needs root for a mount namespace.
  itRoot('a mechanism that does not work here: the daemon does not start, and says why', async () => {
    const launcher = ['unshare', '--mount', 'sh', '-c', 'umount -l /sys/fs/cgroup && exec "$@"', 'sh'];
    const start = TestDaemon.start({ launcher, settings: { adapter: { limit_mechanism: 'cgroup1' } } });
    await expect(start).rejects.toThrow(/limit_mechanism.*cgroup1.*not mounted/s);
  });

  const NO_GROUPS = 'umount -l /sys/fs/cgroup';
  const NO_BUBBLEWRAP = 'mount --bind /dev/null "$(command -v bwrap)"';

  describeRoot('what is missing', () => {
    it.each([
      ['control groups', NO_GROUPS, 'pid_namespace', ['cgroup2', 'cgroup1']],
      ['them and bubblewrap', `${NO_GROUPS} && ${NO_BUBBLEWRAP}`, 'polling', ['cgroup2', 'cgroup1', 'pid_namespace']],
    ])('without %s the next best is taken, and the reasons are told', async (_, without, mechanism, rejected) => {
      const launcher = ['unshare', '--mount', 'sh', '-c', `${without} && exec "$@"`, 'sh'];
      await using daemon = await TestDaemon.start({ launcher });
      await using client = await WireClient.connect(daemon.url);
      const { resource_limits: limits } = await client.request('shell_metadata', {});
      expect(limits).toMatchObject({ mechanism, enforced: false });
      expect(limits.rejected.map((rejection) => rejection.mechanism)).toEqual(rejected);
    });
  });

  it('free space of the disk is kept: what writes is ended, what does not goes on', async () => {
    await using daemon = await TestDaemon.start({ settings: { adapter: { disk_free_mb_floor: 1_000_000_000 } } });
    await using client = await WireClient.connect(daemon.url);
    const id = await client.openSession();
    expect(await client.run('sleep 0.3; echo quiet', id)).toMatchObject({ stdout: 'quiet\n', killed_by: null });
    const result = await client.run('yes > full', id);
    expect(result).toMatchObject({ killed_by: 'disk', limit: { resource: 'disk_free_mb' }, session_state: 'alive' });
    expect(await client.run('rm full; sleep 0.1; echo removed', id)).toMatchObject({ stdout: 'removed\n' });
  });

  it('a workspace that was removed is named by what would write there', async () => {
    await using daemon = await TestDaemon.start({ settings: { adapter: { disk_free_mb_floor: 1 } } });
    await using client = await WireClient.connect(daemon.url);
    rmSync(daemon.workspace, { recursive: true });
    const edit = { path: 'notes.txt', old_text: 'a', new_text: 'b' };
    expect((await client.request('edit_file', edit)).error).toMatchObject({ code: 'FILE_NOT_FOUND' });
    expect((await client.request('write_file', { path: 'notes.txt', data: 'a' })).error).toMatchObject({
      code: 'FILE_NOT_FOUND',
    });
  });
});
