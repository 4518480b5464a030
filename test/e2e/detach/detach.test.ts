import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { connect } from '../../../src/client/index.js';
import { isProcess } from '../../../src/engine/platform/choose-platform.js';
import { eventually } from '../../support/measure.js';
import { isRunning } from '../../support/processes.js';
import { canSandbox } from '../../support/sandbox.js';
import { callCli } from '../cli/in-process.js';
import { DetachedDaemon } from './detached-daemon.js';

it.each([
  ['linux', {}],
  ['posix', { platform: 'posix' }],
])('a killed daemon comes back to its sessions, with what they have, on the platform %s', async (_name, adapter) => {
  await using detached = await DetachedDaemon.start({ adapter });
  const { sessionId, pid } = await opened(detached);
  await detached.end('SIGKILL');
  expect(isRunning(pid)).toBe(true);
  await detached.startAgain({ adapter });
  await using client = await detached.connect();
  expect((await client.request('list_sessions')).sessions.map(({ session_id: id }) => id)).toEqual([sessionId]);
  // For its clients it is no cluster: the dashboard shows no nodes.
  expect((await client.request('describe_access')).node).toBeUndefined();
  expect((await client.run('echo "$KEPT $$"', sessionId)).stdout).toBe(`here ${pid}\n`);
});

/** Opens a session with a variable; gives the pid of its shell. */
async function opened(detached: DetachedDaemon): Promise<{ readonly sessionId: string; readonly pid: number }> {
  await using client = await detached.connect();
  const sessionId = await client.openSession();
  const { stdout } = await client.run('KEPT=here; echo $$', sessionId);
  return { sessionId, pid: Number(stdout) };
}

it('views of the daemon count what its holders have', async () => {
  await using detached = await DetachedDaemon.start();
  await using client = await detached.connect();
  const sessionId = await client.openSession();
  const running = client.run('read -r line', sessionId);
  await client.event('awaiting_input');
  const top = async () => {
    const { stdout } = await callCli(['top', '--once', '--json'], { env: { SHELL_ADAPTER_URL: detached.url } });
    return JSON.parse(stdout) as unknown;
  };
  const mine = { session_id: sessionId, owner: 'local' };
  expect(await top()).toMatchObject({ sessions: [mine], commands: [mine] });
  await eventually(async () => {
    expect(await top()).toMatchObject({ host: { sessions: 1, commands_running: 1 } });
  });
  // Without a body, as of a request that has no fields.
  const answer = await fetch(new URL('/v1/requests/list_sessions', detached.url), { method: 'POST' });
  expect(await answer.json()).toMatchObject({ sessions: [mine] });
  await client.request('close_session', { session_id: sessionId });
  await running;
  const audit = async (...args: readonly string[]) =>
    (await callCli(['audit', ...args, '--config', join(detached.directory, 'config.yaml')])).stdout;
  await eventually(async () => {
    const found = await audit('search', '--text', sessionId);
    expect(found).toMatch(/ session_closed /);
    expect(found).toMatch(/ command_started .*read -r line/);
    expect(await audit('tail')).toMatch(/ daemon_started [^]* command_started /);
  });
  expect(await audit('verify')).toMatch(/audit\.jsonl:\n[^]*in order\n[^]*holder-1\.audit\.jsonl:\n[^]*in order\n$/);
});

it('a command goes on while there is no daemon, and its output is all there', async () => {
  await using detached = await DetachedDaemon.start();
  const go = join(detached.directory, 'go');
  const { sessionId } = await opened(detached);
  const command = `for i in $(seq 20000); do echo "line $i"; [ $i = 10000 ] && until [ -e ${go} ]; do sleep 0.02; done; done; exit_code() { return 7; }; exit_code`;
  const commandId = await begun(detached, sessionId, command);
  await detached.end('SIGKILL');
  writeFileSync(go, '');
  await detached.startAgain();
  await using client = await detached.connect();
  const result = await client.request('wait_command', { command_id: commandId, timeout_ms: 20_000 });
  expect(result).toMatchObject({ status: 'completed', exit_code: 7 });
  const expected = Array.from({ length: 20_000 }, (_, index) => `line ${index + 1}\n`).join('');
  expect(result.stdout_bytes).toBe(Buffer.byteLength(expected));
  const output = await readAll(client, commandId);
  expect(sha256(output)).toBe(sha256(expected));
});

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Starts a command without waiting for it; gives its id once it has printed something. */
async function begun(detached: DetachedDaemon, sessionId: string, command: string): Promise<string> {
  await using client = await detached.connect();
  const commandId = `begun-${sessionId.slice(-8)}`;
  const answer = client.run(command, sessionId, { command_id: commandId, stream: true });
  // The daemon is killed before it answers.
  answer.catch(() => undefined);
  await client.event('command_output');
  return commandId;
}

/** All that a command has printed. */
async function readAll(client: Awaited<ReturnType<DetachedDaemon['connect']>>, commandId: string): Promise<string> {
  let text = '';
  for (;;) {
    const answer = await client.request('read_output', { command_id: commandId, offset: Buffer.byteLength(text) });
    text += String(answer.data);
    if (answer.eof) return text;
  }
}

it('a client that stays follows a command through the end of its daemon, and runs it once', async () => {
  await using detached = await DetachedDaemon.start();
  await using client = await connect(detached.url);
  const session = await client.openSession();
  const log = join(detached.directory, 'runs');
  const text = `echo run >> ${log}; for i in $(seq 40); do echo $i; sleep 0.05; done`;
  const command = session.execute(text, { stream: true });
  let seen = '';
  let isEnded = false;
  for await (const { data } of command) {
    seen += String(data);
    if (isEnded || !seen.includes('5\n')) continue;
    isEnded = true;
    await detached.end('SIGKILL');
    await detached.startAgain();
  }
  const expected = Array.from({ length: 40 }, (_, index) => `${index + 1}\n`).join('');
  expect(seen).toBe(expected);
  expect(await command.result).toMatchObject({ exit_code: 0, stdout: expected });
  expect(readFileSync(log, 'utf8')).toBe('run\n');
});

it('sessions go on after SIGTERM, and nothing stays when there are none', async () => {
  await using detached = await DetachedDaemon.start();
  const { sessionId, pid } = await opened(detached);
  const { holder } = detached;
  await detached.end('SIGTERM');
  expect(isRunning(pid)).toBe(true);
  await detached.startAgain();
  await using client = await detached.connect();
  await client.request('close_session', { session_id: sessionId });
  await detached.end('SIGTERM');
  await eventually(() => {
    expect(isProcess(holder.pid, holder.identity)).toBe(false);
  });
  expect(existsSync(`/dev/shm/shell-adapter-${holder.pid}`)).toBe(false);
});

it('the end of what holds the sessions is that of the sessions, and the next ones open', async () => {
  await using detached = await DetachedDaemon.start();
  await using client = await detached.connect();
  const sessionId = await client.openSession();
  process.kill(detached.holder.pid, 'SIGKILL');
  expect(await client.event('session_closed')).toMatchObject({ session_id: sessionId, reason: 'node_lost' });
  await eventually(async () => {
    expect((await client.request('open_session')).error).toBeUndefined();
  });
});

it('the audit log, the status and the metrics have what the sessions run', async () => {
  await using detached = await DetachedDaemon.start();
  await using client = await detached.connect();
  const sessionId = await client.openSession();
  await client.run('echo audited', sessionId);
  await eventually(async () => {
    expect((await client.request('read_audit', { event: 'command_ended' })).records).toHaveLength(1);
  });
  expect(await client.request('verify_audit')).toMatchObject({ ok: true });
  expect(await client.request('daemon_status')).toMatchObject({ sessions: 1, running_commands: 0 });
  const metrics = await (await fetch(`${detached.url}/metrics`)).text();
  expect(metrics).toMatch(/^shell_adapter_sessions_open\{shell="bash"\} 1$/m);
  expect(metrics).toMatch(/^shell_adapter_commands_finished_total\{.*status="completed".*\} 1$/m);
  expect(metrics.match(/^# HELP shell_adapter_sessions_open /gm)).toHaveLength(1);
});

it('daemons that share a state directory have their own holders', async () => {
  await using first = await DetachedDaemon.start({ socketio: { port: 0 } });
  const settings = { adapter: { detach: true, state_directory: join(first.directory, 'state') } };
  await using second = await DetachedDaemon.start({ ...settings, socketio: { port: 0 } });
  expect(first.holders).toHaveLength(2);
  await second.end('SIGTERM');
});

it.runIf(canSandbox)('a sandbox hides the files of the daemon from what its holder runs', async () => {
  // Not in /tmp, of which a sandbox has its own.
  const folder = mkdtempSync(join(homedir(), '.shell-adapter-test-'));
  const log = join(folder, 'log');
  const sockets = join(folder, 'sockets');
  {
    await using detached = await DetachedDaemon.start({
      logging: { log_file_path: log },
      socketio: { unix_socket: join(sockets, 'socket') },
      sandbox: { profile: 'workspace' },
    });
    await using client = await detached.connect();
    const sessionId = await client.openSession();
    expect(readFileSync(log, 'utf8')).toContain('INFO');
    const { stdout } = await client.run(`ls ${folder}; cat ${log}; ls ${sockets}`, sessionId);
    expect(stdout).toBe('log\nsockets\n');
  }
  rmSync(folder, { recursive: true, force: true });
});
