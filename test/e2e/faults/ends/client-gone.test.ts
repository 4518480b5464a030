import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { ASKING, TestDaemon } from '../../../support/daemon.js';
import { eventually } from '../../../support/measure.js';
import { WireClient } from '../../../support/wire.js';

/** Ends sessions soon after their client has gone, in seconds. */
const SOON = { reconnect_grace: 0.2 };

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'shell-adapter-test-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** Waits until all sessions have ended. */
async function expectNoSessions(daemon: TestDaemon): Promise<void> {
  await using other = await WireClient.connect(daemon.url);
  await eventually(async () => {
    expect((await other.request('list_sessions', {})).sessions).toEqual([]);
  });
}

describe('a client that goes while its request is being prepared', () => {
  it('leaves no session that is being opened', async () => {
    const bash = join(directory, 'bash');
    const go = join(directory, 'go');
    writeFileSync(bash, `#!/bin/sh\nwhile [ ! -e ${go} ]; do sleep 0.02; done\nexec /bin/bash "$@"\n`);
    chmodSync(bash, 0o755);
    await using daemon = await TestDaemon.startCold({ settings: { adapter: { ...SOON, shell: bash } } });
    const client = await WireClient.connect(daemon.url);
    client.socket.emit('open_session', {});
    await client.request('daemon_status', {});
    await client[Symbol.asyncDispose]();
    writeFileSync(go, '');
    await using other = await WireClient.connect(daemon.url);
    await eventually(() => {
      expect(daemon.output).toContain('session opened');
    });
    expect((await other.request('daemon_status', {})).clients).toBe(1);
    await expectNoSessions(daemon);
  });

  it.each([
    ['does not follow the session of a command that begins after that', 'echo here', SOON],
    ['does not wait for an operator', 'rm -rf there', {}],
  ])('%s', async (_title, command, adapter) => {
    const confirmation = { ...ASKING, mode: 'operator' };
    await using daemon = await TestDaemon.startCold({ settings: { adapter, confirmation } });
    const client = await WireClient.connect(daemon.url);
    const session = await client.openSession();
    // The next command asks the shell for its names, which does not answer.
    const { stdout } = await client.run('alias x=true; echo $$', session);
    process.kill(Number(stdout), 'SIGSTOP');
    client.socket.emit('execute_command', { command, session_id: session, stream: true });
    await client.request('daemon_status', {});
    await client[Symbol.asyncDispose]();
    await using other = await WireClient.connect(daemon.url);
    await eventually(async () => {
      expect((await other.request('daemon_status', {})).clients).toBe(1);
    });
    process.kill(Number(stdout), 'SIGCONT');
    if (adapter === SOON) await expectNoSessions(daemon);
    else
      await eventually(() => {
        expect(daemon.output).toContain('confirmation withdrawn');
      });
  });
});
