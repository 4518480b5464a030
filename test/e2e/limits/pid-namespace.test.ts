import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { MECHANISMS } from '../../support/machine/limit-mechanisms.js';
import { eventually } from '../../support/measure.js';
import { descendantsOf, instanceOf, isRunning, taggedProcesses } from '../../support/processes.js';
import { WireClient } from '../../support/wire.js';

const isUsable = MECHANISMS.some(({ name, isUsable: works }) => name === 'pid_namespace' && works);
const settings = { adapter: { limit_mechanism: 'pid_namespace', kill_grace: 1 } };

/** Leaves sleepers that no tag, parent, session or process group leads to. */
const ESCAPEES =
  "setsid -f sleep 300; nohup sleep 300 >/dev/null 2>&1 & (env -i setsid sleep 300 >/dev/null 2>&1 &); trap '' HUP";

describe.skipIf(!isUsable)('a daemon that keeps limits by namespaces of process ids', () => {
  let daemon: TestDaemon;
  let client: WireClient;
  let session: string;

  beforeAll(async () => {
    daemon = await TestDaemon.start({ settings });
    client = await WireClient.connect(daemon.url);
    session = await client.openSession();
    await client.run('KEPT=yes', session);
  });

  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await daemon[Symbol.asyncDispose]();
  });

  it.each(['bash', 'zsh', 'sh'])('%s: a session sees its own processes, by numbers of their own', async (shell) => {
    const id = await client.openSession({ shell });
    const { stdout } = await client.run(`echo $$; ls -d /proc/[0-9]* | wc -l`, id);
    const [pid, count] = stdout.split('\n').map(Number);
    expect(pid).toBeLessThan(10);
    expect(count).toBeLessThan(10);
    await client.request('close_session', { session_id: id });
  });

  it('commands without a session are in one too, whether their shell was started ahead of need or not', async () => {
    for (const args of [undefined, ['-c', 'echo $$']]) {
      const result = await client.run(args ? 'sh' : 'echo $$', undefined, { args });
      expect(Number(result.stdout)).toBeLessThan(10);
    }
  });

  it('an interrupt ends the running command, and the session goes on', async () => {
    const command_id = 'interrupted';
    const answer = client.run('echo begun; sleep 300', session, { command_id, stream: true });
    await client.event('command_output', (event) => event.command_id === command_id);
    await eventually(async () => {
      const { signalled } = await client.request('signal_command', { session_id: session, signal: 'SIGINT' });
      expect(signalled.map(({ command }) => command)).toEqual(['sleep 300']);
    });
    expect(await answer).toMatchObject({ status: 'interrupted', exit_code: 130, session_state: 'alive' });
    expect(await client.run('echo $KEPT', session)).toMatchObject({ stdout: 'yes\n' });
  });

  it('a program has its terminal: its modes, its size, a password without echo', async () => {
    const { stdout } = await client.run('stty -a', session, { tty: true });
    expect(stdout).toMatch(/rows \d+; columns \d+.*\bisig\b.*\becho\b/s);
    const command_id = 'password';
    const answer = client.run('read -rs -p "? " WORD; echo "it is $WORD"', session, { tty: true, command_id });
    await client.event('awaiting_input', (event) => event.command_id === command_id);
    await client.request('send_input', { session_id: session, data: 'hidden\n' });
    expect(await answer).toMatchObject({ stdout: '? it is hidden\r\n', exit_code: 0 });
  });

  it('jobs are listed, brought to the foreground, and ended', async () => {
    await client.run('mkfifo gate');
    const listed = await client.run('sleep 300 & cat gate & jobs', session);
    expect(listed.stdout).toMatch(/\[1\].*Running\s+sleep 300.*\n\[2\].*Running\s+cat gate/);
    const command_id = 'in-front';
    const inFront = client.run('fg %2', session, { command_id, stream: true });
    // Printed once the job is there: a job that has ended before cannot be brought to the foreground.
    await client.event('command_output', (event) => event.command_id === command_id);
    await client.run('echo opened >gate; rm gate');
    expect(await inFront).toMatchObject({ stdout: 'cat gate\n', exit_code: 0 });
    const ended = await client.run('kill %1; wait %1; echo $?', session);
    expect(ended).toMatchObject({ stdout: '143\n', background_processes: [] });
  });

  it('a shell that is killed is replaced, and what it had started is gone', async () => {
    const id = await client.openSession();
    await client.run(`export KEPT=1; ${ESCAPEES}`, id);
    const sleepers = () => taggedProcesses(instanceOf(daemon.pid)).filter(({ command }) => command === 'sleep 300');
    await eventually(() => {
      expect(sleepers()).toHaveLength(2);
    });
    expect(await client.run('kill -9 $$', id)).toMatchObject({ exit_code: 137, session_state: 'restarted' });
    expect(await client.run('echo $KEPT', id)).toMatchObject({ stdout: '1\n' });
    expect(sleepers()).toEqual([]);
    await client.request('close_session', { session_id: id });
  });

  it('F9: a daemon that is killed leaves nothing, at once, and its successor starts as usual', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'shell-adapter-test-'));
    const killed = await TestDaemon.start({ settings }, directory);
    const own = await WireClient.connect(killed.url);
    const id = await own.openSession();
    await own.run(ESCAPEES, id);
    void own.run('sleep 300', id).catch(() => undefined);
    void own.run('sleep 300; :').catch(() => undefined);
    const all = await eventually(() => {
      const found = descendantsOf(killed.pid);
      // Three that hide, one in the session, one without.
      expect(found.filter(({ command }) => command === 'sleep 300')).toHaveLength(5);
      return found;
    });
    killed.signal('SIGKILL');
    await killed.exited;
    await own[Symbol.asyncDispose]();
    await eventually(() => {
      expect(all.filter(({ pid }) => isRunning(pid))).toEqual([]);
    }, 1000);
    await using successor = await TestDaemon.start({ settings }, directory);
    await using next = await WireClient.connect(successor.url);
    expect(await next.run('echo again', await next.openSession())).toMatchObject({ stdout: 'again\n' });
  });
});
