import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { AuditRecord } from '../../src/core/audit.js';
import { listAuditFiles } from '../../src/engine/audit/files.js';
import { verifyAudit } from '../../src/engine/audit/verify.js';
import { ASKING, TestDaemon } from '../support/daemon.js';
import { eventually } from '../support/measure.js';
import { itRootIf } from '../support/root.js';
import { canMount, Tmpfs } from '../support/machine/tmpfs.js';
import { WireClient } from '../support/wire.js';
import { callCli } from './cli/in-process.js';
import { CliProcess } from './cli/support.js';

/** All records of a daemon that has been stopped, the oldest first. */
const recordsOf = (path: string): AuditRecord[] =>
  listAuditFiles(path).flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as AuditRecord),
  );

const auditCommand = (...args: string[]) => callCli(['audit', ...args]);

describe('the audit log of a daemon', () => {
  let daemon: TestDaemon;
  let records: readonly AuditRecord[];
  let session: string;
  let config: string;

  const of = (event: string) => records.filter((record) => record.event === event);
  const requests = (name: string) => of('request').filter(({ request }) => request === name);

  beforeAll(async () => {
    daemon = await TestDaemon.start({ settings: { confirmation: ASKING } });
    config = join(daemon.directory, 'config.yaml');
    const token = daemon.createToken('agent', 'worker');
    const viewer = daemon.createToken('viewer', 'looker');
    {
      await using client = await WireClient.connect(daemon.url, ['websocket'], { token });
      session = await client.openSession({ label: 'mine', env: { API_KEY: 'not to be recorded' } });
      await client.run('echo out; echo err >&2; exit 0', session, { command_id: 'first' });
      await client.run('false', undefined, { command_id: 'second', stdin: 'text for its standard input' });
      await client.run('rm -rf /', session, { command_id: 'denied' });
      await client.request('list_sessions');
      await client.request('get_session', { session_id: session });
      await client.request('close_session', { session_id: session });
      await using looking = await WireClient.connect(daemon.url, ['websocket'], { token: viewer });
      expect(await looking.run('true')).toMatchObject({ error: { code: 'FORBIDDEN' } });
      expect(await looking.run('true')).toMatchObject({ error: { code: 'FORBIDDEN' } });
    }
    const stranger = WireClient.connect(daemon.url, ['websocket'], { token: 'sat_wrong' });
    await expect(stranger).rejects.toThrow();
    daemon.tokens.revoke('worker');
    await WireClient.connect(daemon.url, ['websocket'], { token }).catch(() => undefined);
    await daemon.stop();
    records = recordsOf(daemon.auditFile);
  });
  afterAll(() => rmSync(daemon.directory, { recursive: true, force: true }));

  it('is in order, and begins and ends with the daemon', async () => {
    expect(await verifyAudit(daemon.auditFile)).toMatchObject({ ok: true, first_seq: 1, gaps: [], fault: null });
    expect(records.at(0)).toMatchObject({ event: 'daemon_started' });
    expect(records.at(-1)).toMatchObject({ event: 'daemon_stopped', details: { reason: 'SIGTERM' } });
  });

  it('has who connected, who was not let in, and what became of tokens', () => {
    expect(of('connected')).toMatchObject([
      {
        principal: { name: 'worker', role: 'agent' },
        from: expect.stringMatching(/^socketio 127\.0\.0\.1 \d+$/) as string,
      },
      { principal: { name: 'looker', role: 'viewer' } },
    ]);
    expect(of('connection_refused')[0]).toMatchObject({ outcome: 'UNAUTHORIZED' });
    expect(of('token_made').map(({ principal }) => principal)).toMatchObject([{ name: 'worker' }, { name: 'looker' }]);
    expect(of('token_ended')).toMatchObject([{ principal: { name: 'worker' }, details: { change: 'revoked' } }]);
  });

  it('has commands with hash and text, and their ends with exit code and sizes', () => {
    const command = 'echo out; echo err >&2; exit 0';
    expect(of('command_started')).toMatchObject([
      {
        command_id: 'first',
        session_id: session,
        command,
        command_sha256: createHash('sha256').update(command).digest('hex'),
        principal: { name: 'worker' },
      },
      { command_id: 'second', session_id: null, details: { stdin_characters: 27 } },
    ]);
    expect(of('command_ended')).toMatchObject([
      { command_id: 'first', details: { status: 'completed', exit_code: 0, stdout_bytes: 4, stderr_bytes: 4 } },
      { command_id: 'second', details: { exit_code: 1, stdout_bytes: 0 } },
    ]);
  });

  it('has what the policy said of each, and what it refused', () => {
    expect(of('verdict').map(({ command, verdict }) => [command, (verdict as { action: string }).action])).toEqual([
      [undefined, 'allow'],
      ['echo out; echo err >&2; exit 0', 'allow'],
      ['false', 'allow'],
      ['rm -rf /', 'deny'],
    ]);
    expect(requests('execute_command')).toMatchObject([
      { principal: { name: 'worker' }, command_id: 'denied', command: 'rm -rf /', outcome: 'COMMAND_DENIED' },
      { principal: { name: 'looker' }, command: 'true', outcome: 'FORBIDDEN' },
    ]);
  });

  it('has requests that change something, and not those that look', () => {
    expect(requests('open_session')).toMatchObject([
      { outcome: 'ok', session_id: session, details: { label: 'mine', environment: ['API_KEY'] } },
    ]);
    expect(requests('close_session')).toMatchObject([{ outcome: 'ok', session_id: session }]);
    expect(of('session_closed')).toMatchObject([{ session_id: session, details: { reason: 'client' } }]);
    expect([...requests('list_sessions'), ...requests('get_session')]).toEqual([]);
  });

  it('has neither values of variables nor standard input nor tokens', () => {
    const text = JSON.stringify(records);
    for (const secret of ['not to be recorded', 'its standard input', 'sat_']) expect(text).not.toContain(secret);
  });

  it('is verified, shown and searched by the command line', async () => {
    expect(await auditCommand('verify', '--config', config)).toMatchObject({
      code: 0,
      stdout: `${records.length} records in 1 file, 1 to ${records.length}\nin order\n`,
    });
    expect((await auditCommand('tail', '-n', '1', '--config', config)).stdout).toMatch(
      /daemon_stopped {2}reason="SIGTERM"\n$/,
    );
    const search = async (...query: string[]) => {
      const { stdout } = await auditCommand('search', '--json', '--config', config, ...query);
      const lines = stdout.split('\n').filter(Boolean);
      return lines.map((line) => (JSON.parse(line) as AuditRecord).event);
    };
    expect(await search('--command-id', 'first')).toEqual(['command_started', 'command_ended']);
    expect(await search('--principal', 'looker', '--event', 'request')).toEqual(['request']);
    expect(await search('--text', 'RM -RF')).toEqual(['verdict', 'request']);
    expect(await search('--session', session, '--since', '1h', '--until', '2000-01-01T00:00:00Z')).toEqual([]);
    expect(await auditCommand('search', '--event', 'nonsense')).toMatchObject({ code: 2 });
  });

  it('that was changed fails, with the place', async () => {
    const text = readFileSync(daemon.auditFile, 'utf8');
    writeFileSync(daemon.auditFile, text.replaceAll('rm -rf /', 'ls -l   '));
    const { code, stdout } = await auditCommand('verify', '--config', config);
    writeFileSync(daemon.auditFile, text);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /audit\.jsonl:\d+: after record \d+: it was changed: its hash does not fit its text\nNOT in order\n$/,
    );
    const { stdout: json } = await auditCommand('verify', '--json', '--file', daemon.auditFile);
    expect(JSON.parse(json)).toMatchObject({ ok: true, records: records.length });
  });
});

describe('typed text', () => {
  it('for read -s in bash and zsh is recorded by its length alone', async () => {
    await using daemon = await TestDaemon.startCold({ settings: { confirmation: ASKING } });
    await using client = await WireClient.connect(daemon.url);
    const sessions = [await client.openSession({ shell: 'bash' }), await client.openSession({ shell: 'zsh' })];
    for (const session of sessions) {
      const running = client.run('read -s answer; echo "got ${#answer}"', session);
      await client.event('awaiting_input', ({ session_id: id }) => id === session);
      const typed = await client.request('send_input', { session_id: session, data: 'my password\n' });
      expect(typed).toMatchObject({ accepted_bytes: 12 });
      expect(await running).toMatchObject({ stdout: 'got 11\n' });
    }
    await daemon.stop();
    const records = recordsOf(daemon.auditFile);
    expect(records.filter(({ request }) => request === 'send_input')).toMatchObject(
      sessions.map((session) => ({ outcome: 'ok', session_id: session, details: { typed_bytes: 12 } })),
    );
    expect(JSON.stringify(records)).not.toContain('my password');
  });
});

describe('an audit log that cannot go on', () => {
  it('after SIGKILL goes on where it was, and misses the end of the daemon only', async () => {
    const daemon = await TestDaemon.startCold();
    {
      await using client = await WireClient.connect(daemon.url);
      await client.run('true', undefined, { command_id: 'before' });
      await expect.poll(() => readFileSync(daemon.auditFile, 'utf8')).toContain('command_ended');
    }
    daemon.signal('SIGKILL');
    await daemon.exited;
    await using again = await TestDaemon.startCold({}, daemon.directory);
    await again.stop();
    const records = recordsOf(again.auditFile);
    expect(await verifyAudit(again.auditFile)).toMatchObject({ ok: true, fault: null });
    expect(records.filter(({ event }) => event === 'command_started')).toMatchObject([{ command_id: 'before' }]);
    expect(records.map(({ event }) => event).filter((event) => event.startsWith('daemon_'))).toEqual([
      'daemon_started',
      'daemon_started',
      'daemon_stopped',
    ]);
  });

  itRootIf(canMount())('because its disk is full holds up no command', async () => {
    using disk = new Tmpfs(1);
    const file = join(disk.path, 'audit.jsonl');
    const filler = join(disk.path, 'filler');
    await using daemon = await TestDaemon.startCold({ settings: { audit: { file } } });
    await using client = await WireClient.connect(daemon.url);
    const session = await client.openSession();
    expect(() => writeFileSync(filler, Buffer.alloc(1024 * 1024))).toThrow('ENOSPC');
    for (let number = 0; number < 50; number += 1) {
      expect(await client.run(`echo ${'x'.repeat(2000)}`, session)).toMatchObject({ exit_code: 0 });
    }
    expect(readFileSync(join(daemon.directory, 'log'), 'utf8')).toContain('the audit log cannot be written');
    rmSync(filler);
    await daemon.stop();
    const found = await verifyAudit(file);
    expect(found).toMatchObject({ ok: true, fault: null });
    expect(found.records).toBeGreaterThan(100);
  });

  it('is not shared: a second daemon with the same state directory has another one', async () => {
    await using first = await TestDaemon.startCold();
    const adapter = { state_directory: join(first.directory, 'state') };
    await using second = await TestDaemon.startCold({ settings: { adapter } });
    const files = [first.auditFile, join(first.directory, 'state/audit-2.jsonl')];
    for (const [index, daemon] of [first, second].entries()) {
      await using client = await WireClient.connect(daemon.url);
      await client.run('true', undefined, { command_id: `of_${index}` });
    }
    const named = TestDaemon.startCold({ settings: { adapter, audit: { file: first.auditFile } } });
    await expect(named).rejects.toThrow('writes the audit log');
    await Promise.all([first.stop(), second.stop()]);
    for (const [index, file] of files.entries()) {
      expect(await verifyAudit(file)).toMatchObject({ ok: true, fault: null });
      const ids = recordsOf(file).flatMap(({ event, command_id: id }) => (event === 'command_started' ? [id] : []));
      expect(ids).toEqual([`of_${index}`]);
    }
  });

  it('is followed from now on: what was there before is not shown, what comes is, once', async () => {
    await using daemon = await TestDaemon.startCold();
    await using client = await WireClient.connect(daemon.url);
    await client.run('true', undefined, { command_id: 'before' });
    await using tail = new CliProcess(['audit', 'tail', '-n', '0', '-f', '--json', '--file', daemon.auditFile]);
    // Nothing says when it has begun to look.
    let number = 0;
    await eventually(async () => {
      await client.run('printf', undefined, { command_id: `after_${(number += 1)}`, args: ['two words'] });
      expect(tail.text('stdout')).toContain('command_ended');
    });
    tail.child.kill('SIGINT');
    const { code, stdout } = await tail.ended;
    expect(code).toBe(0);
    expect(stdout).not.toContain('"before"');
    const seen = stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as AuditRecord).seq);
    expect(seen).toEqual(Array.from(seen, (_, index) => (seen[0] ?? 0) + index));
    expect((await auditCommand('tail', '--file', daemon.auditFile)).stdout).toMatch(
      /command_started +printf two words/,
    );
  });

  it('is followed from one file to the next', async () => {
    await using daemon = await TestDaemon.startCold({ settings: { audit: { max_size: 4096, backups: 100 } } });
    await using client = await WireClient.connect(daemon.url);
    await using tail = new CliProcess(['audit', 'tail', '-n', '1000', '-f', '--json', '--file', daemon.auditFile]);
    await tail.until('stdout', /"daemon_started"/);
    for (let number = 1; number <= 40; number += 1) await client.run(`echo ${number}`);
    await tail.until('stdout', /"command":"echo 40"/);
    tail.child.kill('SIGINT');
    const lines = (await tail.ended).stdout.split('\n').filter(Boolean);
    expect(listAuditFiles(daemon.auditFile).length).toBeGreaterThan(3);
    expect(lines.map((line) => (JSON.parse(line) as AuditRecord).seq)).toEqual(lines.map((_, index) => index + 1));
  });

  it('tail and search say that they do not show what is no record as it was written', async () => {
    await using daemon = await TestDaemon.startCold();
    await daemon.stop();
    writeFileSync(daemon.auditFile, readFileSync(daemon.auditFile, 'utf8').replace('"seq":1,', '"seq":9,'));
    for (const name of ['tail', 'search']) {
      const { code, stdout, stderr } = await auditCommand(name, '--file', daemon.auditFile);
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^2 .*daemon_stopped/) as string });
      expect(stderr).toContain('1 line is no record as it was written, and not shown');
      const folder = await auditCommand(name, '--file', daemon.directory);
      expect(folder.stderr).toContain(`there is no audit log at ${daemon.directory}`);
    }
  });

  it.each(['verify', 'tail', 'search'])('%s says when there is none where it was told to look', async (name) => {
    const { code, stdout, stderr } = await auditCommand(name, '--file', '/nowhere/audit.jsonl');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('there is no audit log at /nowhere/audit.jsonl');
  });

  it('is not written at all with audit.enabled: false', async () => {
    await using daemon = await TestDaemon.startCold({ settings: { audit: { enabled: false } } });
    await using client = await WireClient.connect(daemon.url);
    await client.run('true');
    expect(listAuditFiles(daemon.auditFile)).toEqual([]);
  });
});
