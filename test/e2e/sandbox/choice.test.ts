import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { RequestInput } from '../../../src/core/protocol/requests.js';
import { TestDaemon } from '../../support/daemon.js';
import { canSandbox, startSandboxed } from '../../support/sandbox.js';
import { WireClient } from '../../support/wire.js';

const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

/** Fails exactly where a sandbox holds. */
const TRIAL = ': >>/etc/passwd';

describe.runIf(canSandbox)('a client’s choice', () => {
  let daemon: TestDaemon;
  let client: WireClient;
  beforeAll(async () => {
    daemon = await startSandboxed({ settings: { sandbox: { profile: 'workspace' } } });
    client = await WireClient.connect(daemon.url);
  });
  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await daemon[Symbol.asyncDispose]();
  });

  it('is the configured profile where it makes none, and every answer says so', async () => {
    const opened = await client.request('open_session', {});
    expect(opened.sandbox).toBe('workspace');
    const { session_id } = opened;
    expect(await client.request('get_session', { session_id })).toMatchObject({ sandbox: 'workspace' });
    expect((await client.request('shell_metadata', {})).sandbox).toEqual({
      profile: 'workspace',
      configured: 'workspace',
      available: ['none', 'workspace', 'strict'],
      reason: null,
    });
  });

  it('may be stricter, for a session and for a command without one', async () => {
    const { session_id, sandbox } = await client.request('open_session', { sandbox: 'strict' });
    expect(sandbox).toBe('strict');
    const { port } = new URL(daemon.url);
    const command = `bash -c ': <>/dev/tcp/127.0.0.1/${port}'`;
    const run = (options: Partial<RequestInput<'execute_command'>>) =>
      client.request('execute_command', { command, ...options });
    expect(await run({})).toMatchObject({ exit_code: 0 });
    for (const options of [{ session_id }, { sandbox: 'strict' }, { sandbox: 'strict', tty: true }] as const) {
      expect(await run(options)).toMatchObject({ status: 'completed', exit_code: 1 });
    }
  });

  it('may not be less strict, and the refusal names what is allowed', async () => {
    const refusal = {
      error: { code: 'INVALID_REQUEST', details: { field: 'sandbox', allowed: ['workspace', 'strict'] } },
    };
    expect(await client.request('open_session', { sandbox: 'none' })).toMatchObject(refusal);
    expect(await client.request('execute_command', { command: 'true', sandbox: 'none' })).toMatchObject(refusal);
  });

  it('is known by name only, and not made for a command of a session', async () => {
    expect(await client.request('open_session', { sandbox: 'tight' as 'strict' })).toMatchObject({
      error: { code: 'INVALID_REQUEST' },
    });
    const session_id = await client.openSession();
    expect(await client.request('execute_command', { command: 'true', session_id, sandbox: 'strict' })).toMatchObject({
      error: { code: 'INVALID_REQUEST', message: expect.stringContaining('open_session') as string },
    });
    expect(await client.run('echo on', session_id)).toMatchObject({ stdout: 'on\n' });
  });
});

describe('without bubblewrap', () => {
  /** A PATH with what the daemon needs, and no bwrap on it. */
  let path: string;
  beforeAll(() => {
    path = mkdtempSync(join(tmpdir(), 'shell-adapter-path-'));
    for (const name of ['bash', 'sh', 'mkfifo', 'stty', 'true']) {
      const found = ['/usr/bin', '/bin'].map((folder) => join(folder, name)).find((file) => existsSync(file))!;
      symlinkSync(found, join(path, name));
    }
  });
  afterAll(() => {
    rmSync(path, { recursive: true });
  });

  it('the daemon falls back to none, and says why', async () => {
    await using daemon = await TestDaemon.start({
      settings: { sandbox: { profile: 'workspace' } },
      env: { PATH: path },
    });
    await using client = await WireClient.connect(daemon.url);
    const { sandbox } = await client.request('shell_metadata', {});
    expect(sandbox).toMatchObject({ profile: 'none', configured: 'workspace', available: ['none'] });
    expect(sandbox.reason).toContain('bwrap');
    expect(logOf(daemon)).toContain('the configured sandbox does not work');
    expect(await client.request('open_session', {})).toMatchObject({ sandbox: 'none' });
    expect(await client.request('open_session', { sandbox: 'strict' })).toMatchObject({
      error: { code: 'SANDBOX_UNAVAILABLE', details: { available: ['none'] } },
    });
  });

  it('the daemon does not start where the sandbox is required', () => {
    const folder = mkdtempSync(join(tmpdir(), 'shell-adapter-test-'));
    mkdirSync(join(folder, 'workspace'));
    const settings = { SANDBOX_PROFILE: 'workspace', SANDBOX_REQUIRE: 'true', SOCKETIO_PORT: '0' };
    const env = {
      PATH: path,
      HOME: folder,
      SHELL_ADAPTER_ADAPTER_WORKSPACE_DIRECTORY: join(folder, 'workspace'),
      ...Object.fromEntries(Object.entries(settings).map(([name, value]) => [`SHELL_ADAPTER_${name}`, value])),
    };
    const { status, stderr } = spawnSync(process.execPath, [MAIN, 'serve'], {
      cwd: folder,
      env,
      encoding: 'utf8',
      timeout: 30_000,
    });
    rmSync(folder, { recursive: true });
    expect(status).toBe(1);
    expect(stderr).toContain('sandbox.require');
    expect(stderr).toContain('bwrap');
  });
});

describe('none', () => {
  it('is what the daemon does without being told otherwise, and a stricter profile can be asked for', async () => {
    await using daemon = await TestDaemon.start();
    await using client = await WireClient.connect(daemon.url);
    expect(await client.request('open_session', {})).toMatchObject({ sandbox: 'none' });
    if (!canSandbox) return;
    const { session_id } = await client.request('open_session', { sandbox: 'workspace' });
    expect((await client.run(TRIAL, session_id)).exit_code).not.toBe(0);
    expect(await client.request('get_session', { session_id })).toMatchObject({ sandbox: 'workspace' });
  });
});

const logOf = ({ directory }: TestDaemon): string => readFileSync(join(directory, 'log'), 'utf8');

describe.runIf(canSandbox)('a workspace that is named by links', () => {
  it.each([
    ['one', 'link'],
    ['one to another', 'chain'],
    ['one on the way', 'up/real'],
  ])('in /tmp, %s: is the workspace inside too', async (_, name) => {
    const directory = mkdtempSync(join(tmpdir(), 'shell-adapter-test-'));
    mkdirSync(join(directory, 'real'));
    symlinkSync('real', join(directory, 'link'));
    symlinkSync(join(directory, 'link'), join(directory, 'chain'));
    symlinkSync('.', join(directory, 'up'));
    const workspace = join(directory, name);
    const settings = { adapter: { workspace_directory: workspace }, sandbox: { profile: 'strict', require: true } };
    await using daemon = await TestDaemon.start({ settings });
    await using client = await WireClient.connect(daemon.url);
    try {
      const id = await client.openSession();
      const command = `cd ${workspace} && echo kept >>file; pwd -P`;
      expect(await client.run(command, id)).toMatchObject({ stdout: `${join(directory, 'real')}\n`, stderr: '' });
      expect(await client.run(command)).toMatchObject({ stderr: '', exit_code: 0 });
      expect(await client.run('sh', undefined, { args: ['-c', command], cwd: workspace })).toMatchObject({
        stderr: '',
        exit_code: 0,
      });
      expect(readFileSync(join(directory, 'real', 'file'), 'utf8')).toBe('kept\nkept\nkept\n');
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
