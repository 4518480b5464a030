import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect } from 'vitest';

import { daemonTest } from '../support/daemon-test.js';
import { serveInSession } from '../support/network/preview.js';
import { callCli } from './cli/in-process.js';
import { urlVariable } from './cli/support.js';

const it = daemonTest({
  settings: {
    adapter: { platform: 'posix', disk_mb_limit: 100 },
    http: { previews: true },
    confirmation: { mode: 'off' },
  },
});

/** What reaches beyond processes, on a daemon that does without /proc. The clients of these tests have no token. */
describe('a daemon with adapter.platform posix', () => {
  it('says so', async ({ client, daemon }) => {
    const { platform, resource_limits: limits } = await client.request('shell_metadata', {});
    expect([platform, limits.mechanism]).toEqual(['posix', 'polling']);
    expect((await callCli(['metadata'], { env: urlVariable(daemon) })).stdout).toMatch(/platform posix/);
  });

  it('serves programs of its user without a token', async ({ daemon }) => {
    const answer = await fetch(`${daemon.url}/v1/requests/shell_metadata`, { method: 'POST' });
    expect(answer.status).toBe(200);
  });

  it('works on files, and brings them back', async ({ client, daemon }) => {
    const path = join(daemon.workspace, 'new/file');
    await client.request('write_file', { path: 'new/file', data: 'one\n', create_directories: true });
    const { checkpoint_id } = await client.request('checkpoint_workspace', {});
    await client.request('remove_path', { path: 'new', recursive: true });
    expect(existsSync(path)).toBe(false);
    await client.request('restore_workspace', { checkpoint_id });
    expect(readFileSync(path, 'utf8')).toBe('one\n');
    expect(await client.request('read_file', { path: 'new/file' })).toMatchObject({ size: 4 });
  });

  it('finds ports, waits for them, and previews them', async ({ client, daemon }) => {
    const other = await client.openSession();
    const { session_id, port, path } = await serveInSession(client);
    expect(await client.request('wait_for', { port })).toMatchObject({ met: true, condition: 'port' });
    expect(await client.request('wait_for', { port, session_id })).toMatchObject({ met: true });
    const elsewhere = await client.request('wait_for', { port, session_id: other, timeout_ms: 100 });
    expect(elsewhere).toMatchObject({ met: false });
    const { ports } = await client.request('list_ports', {});
    expect(ports).toMatchObject([{ port, address: '127.0.0.1', session_id, on_machine: true }]);
    expect((await fetch(`${daemon.url}${path}echo`)).status).toBe(200);
    const own = Number(new URL(daemon.url).port);
    const refused = await client.request('preview_port', { session_id, port: own });
    expect(refused).toMatchObject({ error: { code: 'PORT_UNAVAILABLE', details: { port: own } } });
  });

  it('measures the machine', async ({ client }) => {
    const { memory_used_bytes: used, memory_bytes: all, load1 } = await client.request('host_history', {});
    expect(used[0]).toBeGreaterThan(0);
    expect(all).toBeGreaterThan(used[0]!);
    expect(load1[0]).toBeGreaterThanOrEqual(0);
  });

  it('refuses limits that it cannot enforce, and warns of those of the configuration', async ({ client, daemon }) => {
    const refused = { error: { code: 'INVALID_REQUEST', details: { field: 'limits.disk_mb' } } };
    const limits = { disk_mb: 10 };
    expect(await client.request('open_session', { limits })).toMatchObject(refused);
    expect(await client.request('execute_command', { command: 'true', limits })).toMatchObject(refused);
    expect(daemon.output).toMatch(/cannot be enforced on this platform.*disk_mb_limit/);
    const { stdout } = await callCli(['doctor', '--config', join(daemon.directory, 'config.yaml')], {
      env: urlVariable(daemon),
    });
    expect(stdout).toMatch(/warn +adapter\.disk_mb_limit +the platform posix cannot enforce it/);
    expect(stdout).toMatch(/warn +platform +posix, without/);
    expect(stdout).toMatch(/lsof/);
  });
});
