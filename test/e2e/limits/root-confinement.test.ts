import { readlinkSync } from 'node:fs';

import { expect } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { daemonTest } from '../../support/daemon-test.js';
import { MECHANISMS } from '../../support/machine/limit-mechanisms.js';
import { describeRootIf } from '../../support/root.js';
import { WireClient } from '../../support/wire.js';

const canUseGroups = MECHANISMS.some(({ name, isUsable }) => name === 'cgroup1' && isUsable);

/** Sets $own to the directory of the shell's group of the pids controller, $all to where that is mounted. */
const PLACES =
  'all=$(findmnt -nt cgroup -o TARGET -O pids | head -1); own=$all$(sed -n "s/.*:pids://p" /proc/self/cgroup | sed "s,/held\\$,,")';

/** What root may try to leave its group or to raise its limit; each fails. */
const ATTEMPTS = {
  'enter the group around': 'echo $$ >"$all/cgroup.procs"',
  'enter the group around as a thread': 'echo $$ >"$all/tasks"',
  'raise the limit': 'echo max >"$own/pids.max"',
  'make the mount writable': 'mount -o remount,bind,rw "$all"',
  'mount the hierarchy elsewhere': 'mount -t cgroup -o pids none /mnt',
  'uncover it': 'umount "$all"',
  'enter the namespace of another process': 'nsenter -t 1 -m true',
  'reach it through another process': 'echo $$ >"/proc/1/root$all/cgroup.procs"',
  'make a mount namespace': 'unshare -m true',
};

const it = daemonTest({ settings: { adapter: { limit_mechanism: 'cgroup1', process_limit: 60 } } });

describeRootIf(canUseGroups)('commands of a root daemon', () => {
  /** In a session, and without one. */
  async function runEverywhere(client: WireClient, command: string) {
    const id = await client.openSession();
    const results = [await client.run(command, id), await client.run(command)];
    await client.request('close_session', { session_id: id });
    return results;
  }

  it.for(Object.entries(ATTEMPTS))('cannot %s', async ([, attempt], { client }) => {
    for (const result of await runEverywhere(client, `${PLACES}; ( ${attempt} ) 2>&1`)) {
      expect(result.exit_code, result.stdout).not.toBe(0);
    }
  });

  it('cannot raise the limit in a user namespace with control groups of its own', async ({ client }) => {
    const inside = 'mount -t cgroup -o pids none /mnt && echo max >/mnt/pids.max; echo tried';
    const results = await runEverywhere(client, `${PLACES}; unshare -UrmC sh -c '${inside}'; cat "$own/pids.max"`);
    expect(results.map(({ stdout }) => stdout.split('\n').at(-2))).toEqual(['60', '60']);
  });

  it('are ended at their limit like others, and see all processes', async ({ client }) => {
    const [session, oneShot] = await runEverywhere(
      client,
      'ls -d /proc/1 /proc/$PPID; for i in $(seq 90); do sleep 60 & done; wait',
    );
    for (const result of [session, oneShot]) {
      expect(result).toMatchObject({ killed_by: 'processes', limit: { resource: 'processes', limit: 60 } });
      expect(result?.stdout).toContain('/proc/1\n');
    }
  });

  it('find out that a program is missing as elsewhere', async ({ client }) => {
    const result = await client.run('no-such-program', undefined, { args: ['x'] });
    expect(result).toMatchObject({ exit_code: 127, stderr: 'no-such-program: command not found\n' });
  });
});

describeRootIf(canUseGroups)('without a limit that was asked for', () => {
  it('commands keep all rights; a session that asks for limits gives them up', async () => {
    await using daemon = await TestDaemon.start({ settings: { adapter: { limit_mechanism: 'cgroup1' } } });
    await using client = await WireClient.connect(daemon.url);
    const rights = "sed -n 's/^CapBnd:.//p' /proc/self/status; readlink /proc/self/ns/mnt";
    const free = await client.run(rights);
    const limited = await client.run(rights, await client.openSession({ limits: { processes: 100 } }));
    const [rightsOfOthers, namespaceOfOthers] = free.stdout.split('\n');
    expect(namespaceOfOthers).toBe(readlinkSync('/proc/self/ns/mnt'));
    expect(limited.stdout).not.toContain(namespaceOfOthers);
    expect(limited.stdout).not.toContain(rightsOfOthers);
  });
});
