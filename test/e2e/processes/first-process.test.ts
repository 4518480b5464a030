import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import { describeRootIf } from '../../support/root.js';
import { canMount } from '../../support/machine/tmpfs.js';
import { WireClient } from '../../support/wire.js';

const INIT = fileURLToPath(new URL('../../../scripts/init', import.meta.url));
const CONTAINER = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];
/** Ends a moment after the command that has started it. */
const ORPHAN = '(sleep 0.05 &)';

/** The first process of the container that a launcher has made. */
const firstIn = (launcher: number): number =>
  Number(readFileSync(`/proc/${launcher}/task/${launcher}/children`, 'utf8'));

describeRootIf(canMount())('the first process of a container', () => {
  it('scripts/init waits for what commands have left behind, passes signals on, and ends as the daemon does', async () => {
    const daemon = await TestDaemon.start({ launcher: [...CONTAINER, INIT] });
    const client = await WireClient.connect(daemon.url);
    const id = await client.openSession();
    for (const session of [undefined, id]) await client.run(`${ORPHAN}; ${ORPHAN}`, session);
    await eventually(async () => {
      expect((await client.run('ps -e -o stat= -o comm= | grep ^Z', id)).stdout).toBe('');
    });
    await client[Symbol.asyncDispose]();
    process.kill(firstIn(daemon.pid), 'SIGTERM');
    expect(await daemon.exited).toBe(0);
    expect(daemon.output).not.toContain('scripts/init');
    await daemon[Symbol.asyncDispose]();
  });

  it('says what a daemon that runs as that cannot do', async () => {
    await using daemon = await TestDaemon.start({ launcher: CONTAINER });
    expect(daemon.output).toContain('scripts/init');
    process.kill(firstIn(daemon.pid), 'SIGTERM');
    await daemon.exited;
  });
});
