import { execFileSync, spawnSync } from 'node:child_process';

import { describe, expect } from 'vitest';

import { daemonTest } from '../support/daemon-test.js';
import { eventually } from '../support/measure.js';
import { runtimeDirectoriesOf } from '../support/processes.js';

/** Too long to fit into a request. */
const LONG = ' '.repeat(4000);

const it = daemonTest({ settings: { confirmation: { mode: 'off' } } });

describe('the files of the daemon', () => {
  it('contain nothing of a command that has ended', async ({ daemon, client }) => {
    const session = await client.openSession();
    const mark = `mark${process.pid}`;
    await client.run(`echo ${mark}-text${LONG}`, session);
    await client.run('cat', session, { stdin: `${mark}-stdin` });
    await client.run('printenv X', session, { env: { X: `${mark}-variable` } });
    await client.run(`echo ${mark}-alone${LONG}`);
    await client.run('cat', undefined, { stdin: `${mark}-stdin-alone` });
    const directories = runtimeDirectoriesOf(daemon.pid);
    expect(directories).not.toEqual([]);
    // The client does not wait until they are removed.
    await eventually(() => {
      const found = spawnSync('grep', ['-rIl', '--devices=skip', mark, ...directories], { encoding: 'utf8' });
      expect(found.stdout).toBe('');
    });
    expect(execFileSync('ls', ['-R', ...directories], { encoding: 'utf8' })).not.toContain('000.in');
  });
});
