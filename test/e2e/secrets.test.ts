import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect } from 'vitest';

import { daemonTest } from '../support/daemon-test.js';
import { TestDaemon } from '../support/daemon.js';
import { WireClient } from '../support/wire.js';

const SECRET = 'hunter2-hunter2';
const settings = { secrets: { values: [SECRET], environment: ['MY_API_KEY', 'NOT_SET'] } };
const env = { MY_API_KEY: 'key-of-the-daemon' };

const it = daemonTest({ settings, env });

describe('configured secrets', () => {
  it('are masked in results, of sessions, one-shots and terminals, and in exact bytes; sizes are those of what is left', async ({
    client,
  }) => {
    const session = await client.openSession();
    const command = `echo 'a ${SECRET} b'; echo 'key-of-the-daemon' >&2`;
    for (const result of [await client.run(command, session), await client.run(command)]) {
      expect(result).toMatchObject({
        stdout: 'a *** b\n',
        stderr: '***\n',
        stdout_bytes: 8,
        original_stdout_size: 8,
        stdout_truncated: false,
      });
      const read = await client.request('read_output', { command_id: result.command_id });
      expect({ ...read, data: Buffer.from(read.data).toString() }).toMatchObject({
        data: 'a *** b\n',
        size: 8,
        eof: true,
      });
    }
    expect(await client.run(command, session, { tty: true })).toMatchObject({ stdout: 'a *** b\r\n***\r\n' });
    const encoded = await client.run(`printf %s ${SECRET}`, session, { output: { encoding: 'base64' } });
    expect(Buffer.from(encoded.stdout, 'base64').toString()).toBe('***');
  });

  it('are masked in events, and when a command prints them piece by piece', async ({ client }) => {
    const session = await client.openSession();
    const command = "for part in hun ter2 -hunt er2; do printf %s $part; sleep 0.05; done; printf '!'";
    expect(await client.run(command, session, { stream: true })).toMatchObject({ stdout: '***!' });
    const pieces = client.all('command_output').flatMap(({ session_id: id, data }) => (id === session ? [data] : []));
    expect(pieces.join('')).toBe('***!');
  });

  it('are masked in what clients are told of commands, in the log and in the audit log', async () => {
    await using daemon = await TestDaemon.startCold({
      settings: { ...settings, logging: { logging_level: 'debug' } },
      env,
    });
    await using client = await WireClient.connect(daemon.url);
    const session = await client.openSession({ label: `with ${SECRET}` });
    const running = client.run(`: ${SECRET}; read answer`, session);
    await client.event('awaiting_input');
    const { sessions } = await client.request('list_sessions');
    expect(sessions[0]).toMatchObject({ label: 'with ***', running_command: { command: ': ***; read answer' } });
    await client.request('send_input', { session_id: session, data: '\n' });
    await running;
    const refused = await client.run('true', session, { cwd: `/nowhere/${SECRET}` });
    expect(refused.error?.message).toContain('/nowhere/***');
    await daemon.stop();
    const written = readFileSync(daemon.auditFile, 'utf8') + readFileSync(join(daemon.directory, 'log'), 'utf8');
    expect(written).toContain(': ***; read answer');
    expect(written).not.toContain(SECRET);
  });

  it('from a file of several lines are masked line by line, and change with the configuration', async () => {
    await using daemon = await TestDaemon.startCold();
    const key = join(daemon.directory, 'key.pem');
    writeFileSync(key, 'first-line-of-it\nab\nlast-line-of-it\n');
    const config = join(daemon.directory, 'config.yaml');
    writeFileSync(config, `${readFileSync(config, 'utf8')}secrets: { files: [${key}] }\n`);
    await using client = await WireClient.connect(daemon.url);
    expect(await client.run(`cat ${key}`)).toMatchObject({ stdout: 'first-line-of-it\nab\nlast-line-of-it\n' });
    daemon.signal('SIGHUP');
    await expect.poll(async () => (await client.run(`cat ${key}`)).stdout, { timeout: 10_000 }).toBe('***\nab\n***\n');
  });
});

describe('the daemon’s own environment', () => {
  it('does not reach a session, whatever is passed on', async () => {
    const adapter = { environment: { pass: ['SHELL_*', 'ALSO_*'] } };
    const own = { SHELL_ADAPTER_TOKEN: 'sat_of-the-daemon', DAEMON_ONLY: 'x', ALSO_THIS: 'y' };
    await using daemon = await TestDaemon.startCold({ settings: { adapter }, env: own });
    await using client = await WireClient.connect(daemon.url);
    for (const session of [undefined, await client.openSession()]) {
      const { stdout } = await client.run('env', session);
      expect(stdout).toContain('ALSO_THIS=y');
      expect(stdout).not.toMatch(/DAEMON_ONLY|SHELL_ADAPTER_TOKEN/);
    }
  });
});
