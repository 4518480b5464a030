import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { TestDaemon } from '../../../support/daemon.js';
import { eventually } from '../../../support/measure.js';
import { instanceOf, runtimeDirectoriesOf, taggedProcesses } from '../../../support/processes.js';
import { WireClient } from '../../../support/wire.js';

/** Each a way in which processes escape from their shell. */
const ESCAPES = [
  'sleep 300 &',
  'setsid sleep 300 &',
  'nohup sleep 300 >/dev/null 2>&1 &',
  '(setsid sh -c "sleep 300 & sleep 300" &)',
  'python3 -c "import os,time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); time.sleep(300)"',
  '(trap "" TERM HUP INT; sleep 300; sleep 300) &',
].join('\n');

const IGNORES_TERM = 'trap "" TERM INT HUP; echo started; while :; do sleep 300; done';

const spoolFolder = (daemon: TestDaemon) => join(daemon.directory, 'state', 'spool');
const spoolOf = (daemon: TestDaemon) => {
  const folder = spoolFolder(daemon);
  return existsSync(folder) ? readdirSync(folder) : [];
};

/** Starts a command that goes on; resolves when it has printed `started`. */
async function startCommand(client: WireClient, sessionId: string, command: string): Promise<string> {
  const { command_id } = await client.run(command, sessionId, { background: true, stream: true });
  await client.event('command_output', (event) => event.command_id === command_id);
  return command_id;
}

describe('F8: SIGTERM', () => {
  it('F8: with 20 busy sessions: clients are told, every process ends, nothing is left, exit 0', async () => {
    await using daemon = await TestDaemon.start();
    await using client = await WireClient.connect(daemon.url);
    const instance = instanceOf(daemon.pid);
    const sessions = await Promise.all(Array.from({ length: 20 }, () => client.openSession()));
    await client.run(ESCAPES, sessions[0]);
    await client.run('head -c 1000000 /dev/zero', sessions[1]);
    const answers = sessions.map((id, index) => client.run(index % 4 === 0 ? IGNORES_TERM : 'sleep 300', id));
    answers.push(client.run('sleep 300'), client.run('setsid sleep 300 & sleep 300'));
    const settled = Promise.allSettled(answers);
    await eventually(async () => {
      const { sessions: all } = await client.request('list_sessions', {});
      expect(all.filter(({ state }) => state === 'busy')).toHaveLength(20);
    });
    expect(await daemon.stop()).toBe(0);
    for (const answer of await settled) {
      expect(answer).toMatchObject({ status: 'fulfilled', value: { status: 'killed', killed_by: 'shutdown' } });
    }
    expect(client.all('server_shutdown')).toHaveLength(1);
    expect(client.all('session_closed').map(({ reason }) => reason)).toEqual(sessions.map(() => 'shutdown'));
    expect(taggedProcesses(instance)).toEqual([]);
    expect(runtimeDirectoriesOf(daemon.pid)).toEqual([]);
    expect(spoolOf(daemon)).toEqual([]);
  });

  it('F8: an idle daemon ends likewise', async () => {
    await using daemon = await TestDaemon.start();
    expect(await daemon.stop()).toBe(0);
    expect(runtimeDirectoriesOf(daemon.pid)).toEqual([]);
  });

  it('F8: without waiting as long as kill_grace allows', async () => {
    await using daemon = await TestDaemon.start({ settings: { adapter: { kill_grace: 3600 } } });
    await using client = await WireClient.connect(daemon.url);
    const instance = instanceOf(daemon.pid);
    await startCommand(client, await client.openSession(), IGNORES_TERM);
    expect(await daemon.stop()).toBe(0);
    expect(taggedProcesses(instance)).toEqual([]);
  });

  it('F8: SIGINT does the same', async () => {
    await using daemon = await TestDaemon.start();
    await using client = await WireClient.connect(daemon.url);
    const instance = instanceOf(daemon.pid);
    await client.run('setsid sleep 300 &', await client.openSession());
    daemon.signal('SIGINT');
    await client.event('server_shutdown');
    await daemon.exited;
    expect(taggedProcesses(instance)).toEqual([]);
    expect(runtimeDirectoriesOf(daemon.pid)).toEqual([]);
  });

  it('F8: while it ends, new work is refused with SHUTTING_DOWN', async () => {
    await using daemon = await TestDaemon.start();
    await using client = await WireClient.connect(daemon.url);
    await startCommand(client, await client.openSession(), IGNORES_TERM);
    daemon.signal('SIGTERM');
    await client.event('server_shutdown');
    expect((await client.run('echo no')).error?.code).toBe('SHUTTING_DOWN');
    expect((await client.request('open_session', {})).error?.code).toBe('SHUTTING_DOWN');
    expect((await client.request('list_sessions', {})).error).toBeUndefined();
    await daemon.exited;
  });

  it('a second SIGTERM ends it now, and the next start removes what that left', async () => {
    await using first = await TestDaemon.start();
    await using client = await WireClient.connect(first.url);
    const instance = instanceOf(first.pid);
    await startCommand(client, await client.openSession(), IGNORES_TERM);
    first.signal('SIGTERM');
    await client.event('server_shutdown');
    first.signal('SIGTERM');
    expect(await first.exited).toBe(143);
    await using second = await TestDaemon.start({}, first.directory);
    expect(taggedProcesses(instance)).toEqual([]);
    expect(runtimeDirectoriesOf(first.pid)).toEqual([]);
    expect(spoolOf(second)).toHaveLength(1);
  });
});

describe('the start after a SIGKILL', () => {
  it('ends the processes, removes the FIFOs and the spool folder that were left', async () => {
    await using first = await TestDaemon.start();
    const client = await WireClient.connect(first.url);
    const instance = instanceOf(first.pid);
    const id = await client.openSession();
    await client.run(ESCAPES, id);
    await client.run('head -c 1000000 /dev/zero', id);
    await startCommand(client, id, IGNORES_TERM);
    await client.run('setsid sleep 300 & sleep 300', undefined, { background: true });
    first.signal('SIGKILL');
    await first.exited;
    expect(taggedProcesses(instance).length).toBeGreaterThan(0);
    expect(runtimeDirectoriesOf(first.pid)).toHaveLength(1);
    expect(spoolOf(first)).toHaveLength(1);
    await using second = await TestDaemon.start({}, first.directory);
    expect(taggedProcesses(instance)).toEqual([]);
    expect(runtimeDirectoriesOf(first.pid)).toEqual([]);
    expect(spoolOf(second)).toEqual([instanceOf(second.pid)]);
  });

  it('leaves a daemon that still runs, and its sessions, alone', async () => {
    await using first = await TestDaemon.start();
    await using client = await WireClient.connect(first.url);
    const id = await client.openSession();
    await client.run('sleep 300 &', id);
    const before = taggedProcesses(instanceOf(first.pid)).map(({ pid }) => pid);
    await using second = await TestDaemon.start();
    expect(second.pid).not.toBe(first.pid);
    const after = taggedProcesses(instanceOf(first.pid)).map(({ pid }) => pid);
    expect(after).toEqual(expect.arrayContaining(before));
    expect(await client.run('jobs -r | wc -l', id)).toMatchObject({ stdout: '1\n', session_state: 'alive' });
  });
});
