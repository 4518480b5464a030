import { appendFileSync, rmSync, statSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { settled } from '../../support/measure.js';
import { describeRootIf, itRoot } from '../../support/root.js';
import { canMount } from '../../support/machine/tmpfs.js';
import { WireClient } from '../../support/wire.js';

/** A daemon that sees a /dev/shm of its own, of 1 MiB. */
const SMALL_SHM = ['unshare', '-m', 'sh', '-c', 'mount -t tmpfs -o size=1m none /dev/shm && exec "$@"', 'sh'];

/** Takes what room there is; gives how much that is altogether, in bytes. */
function fill(file: string): number {
  for (const bytes of [4096, 1]) {
    for (let isFull = false; !isFull;) {
      try {
        appendFileSync(file, Buffer.alloc(bytes));
      } catch (error) {
        expect(error).toMatchObject({ code: 'ENOSPC' });
        isFull = true;
      }
    }
  }
  return statSync(file).size;
}

describeRootIf(canMount())('a full disk below the runtime directory', () => {
  it('one-shots and long texts are answered as not started, and everything works again with room', async () => {
    await using daemon = await TestDaemon.start({ launcher: SMALL_SHM });
    await using client = await WireClient.connect(daemon.url);
    const id = await client.openSession();
    const file = `/proc/${daemon.pid}/root/dev/shm/fill`;
    for (const session of [undefined, undefined, undefined, undefined, undefined, undefined, id, id]) {
      // What has ended gives its room back a moment later.
      await settled(() => fill(file));
      const { exit_code, warnings } = await client.run(`echo no ${'#'.repeat(4000)}`, session);
      expect([exit_code, warnings.map(({ code }) => code)]).toEqual([126, ['NOT_STARTED']]);
    }
    // A short text needs no file.
    expect((await client.run('echo short', id)).stdout).toBe('short\n');
    rmSync(file);
    for (const session of [undefined, id]) expect((await client.run('echo yes', session)).stdout).toBe('yes\n');
  });
});

describe('a shell that can no longer read its commands', () => {
  async function tellsItsLoss(shell: string, command: string): Promise<void> {
    await using daemon = await TestDaemon.start();
    await using client = await WireClient.connect(daemon.url);
    const id = await client.openSession({ shell });
    await client.run(command, id);
    const lost = await client.run('echo a', id);
    expect(lost).toMatchObject({ exit_code: 137, status: 'killed', stdout: '', session_state: 'restarted' });
    expect(await client.run('echo b', id)).toMatchObject({ stdout: 'b\n', session_state: 'alive' });
  }

  it('bash, after `unset __sa_dir`: the loss is told, and the session goes on', () =>
    tellsItsLoss('bash', 'unset __sa_dir'));

  // Others may not change their user.
  itRoot('zsh, after `EUID=3`: the loss is told, and the session goes on', () => tellsItsLoss('zsh', 'EUID=3'));
});
