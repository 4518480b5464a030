import { chmodSync, copyFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { ask } from '../../support/http.js';
import { eventually } from '../../support/measure.js';
import { runtimeDirectoriesOf } from '../../support/processes.js';
import { WireClient } from '../../support/wire.js';
import { makeFolder } from '../cli/support.js';

/** Longest that a daemon may take to end. */

const IGNORES_TERM = 'trap "" TERM INT HUP; echo started; while :; do sleep 300; done';

const get = (daemon: TestDaemon, path: string, headers: Record<string, string> = {}) =>
  ask(new URL(path, daemon.url), { headers });

/** Sends text as it is; gives the first of what comes back. */
async function tell({ url }: TestDaemon, text: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(text);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return answer.toString();
}

describe('HTTP on the port of Socket.IO', () => {
  let daemon: TestDaemon;

  beforeAll(async () => {
    daemon = await TestDaemon.start();
  });

  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
  });

  it('/healthz says that the daemon answers, /readyz that it would take a command', async () => {
    expect(await get(daemon, '/healthz')).toMatchObject({
      status: 200,
      body: { status: 'ok', service: 'shell-adapter' },
    });
    expect(await get(daemon, '/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } });
    expect(await ask(new URL('/readyz', daemon.url), { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  });

  it.each([
    ['POST', '/'],
    ['GET', '/assets/nothing.js'],
    ['GET', '/metric'],
    ['GET', '/healthz/'],
    ['GET', '//metrics'],
    ['POST', '/metrics'],
    ['DELETE', '/healthz'],
    ['OPTIONS', '/metrics'],
    ['GET', '/socket.i'],
  ])('%s %s: 404 in JSON', async (method, path) => {
    const { url } = daemon;
    const answer = await ask(`${url}${path}`, { method, ...(method === 'POST' && { body: 'x'.repeat(100_000) }) });
    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'UNKNOWN_REQUEST' } } });
    expect(answer.text).toContain(`${method} ${path}`);
  });

  it('what is no path, or no HTTP, is 400', async () => {
    expect(await ask(`${daemon.url}/%zz`)).toMatchObject({ status: 400, body: { error: { code: 'INVALID_REQUEST' } } });
    expect(await tell(daemon, 'this is no HTTP\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });

  const PAGES = ['/healthz', '/readyz', '/metrics', '/nothing'];

  describe.each([...PAGES, '/socket.io/?EIO=4&transport=polling'])('%s', (path) => {
    it.each([
      ['another host', { host: 'rebound.example' }],
      ['another host with our port', { host: 'rebound.example:8087' }],
      ['a name that begins like ours', { host: 'localhost.example' }],
      ['an address of another machine', { host: '192.0.2.1' }],
    ])('is refused to %s', async (_, headers) => {
      const { status, text } = await get(daemon, path, headers);
      expect(status).toBe(403);
      expect(text).toContain('not this machine');
    });
  });

  // Over Socket.IO they are asked for a token: see access/connecting.test.ts.
  describe.each(PAGES)('%s', (path) => {
    it.each([
      ['a web page', 'https://page.example'],
      ['a page of this machine', 'http://127.0.0.1:8087'],
      ['a page without an origin of its own', 'null'],
    ])('is refused to %s', async (_, origin) => {
      const { status, text } = await get(daemon, path, { origin });
      expect(status).toBe(403);
      expect(text).toContain('web pages are refused');
    });
  });

  it.each([
    ['a proxy', { 'x-forwarded-host': 'adapter.example' }, 401],
    ['a content delivery network', { 'cf-connecting-ip': '192.0.2.1' }, 401],
    ['a page without an origin', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a browser whose user asks for it', { 'sec-fetch-site': 'none' }, 200],
  ])('/metrics for %s: %j', async (_, headers: Record<string, string>, status) => {
    const authorization = `Bearer ${daemon.tokens.readFirstSecret() ?? ''}`;
    expect((await get(daemon, '/metrics', headers)).status).toBe(status);
    expect((await get(daemon, '/metrics', { ...headers, authorization })).status).toBe(status === 403 ? 403 : 200);
  });

  it.each([
    ['/mcp', { id: null, error: { code: -32_700 } }],
    ['/v1/chat/completions', { error: { code: 'invalid_request' } }],
    ['/v1/responses', { error: { code: 'invalid_request' } }],
  ])('%s: JSON that is nested too deep is 400', async (path, answer) => {
    const body = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const { status, body: failure, text } = await ask(`${daemon.url}${path}`, { method: 'POST', headers, body });
    expect({ status, failure }).toMatchObject({ status: 400, failure: answer });
    expect(text).toContain('more than 100 levels');
  });

  it('the body of a stranger is not read', async () => {
    const request = ['POST /v1/responses HTTP/1.1', 'Host: localhost', 'Via: proxy', 'Content-Length: 20000000'];
    const answer = await tell(daemon, `${[...request, 'Content-Type: application/json'].join('\r\n')}\r\n\r\n{`);
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  });

  it.each(['localhost', 'LOCALHOST:1', '127.0.0.1:8087', '127.1.2.3', '[::1]:8087'])(
    'Host: %s is this machine',
    async (host) => {
      expect((await get(daemon, '/healthz', { host })).status).toBe(200);
    },
  );

  it('does not disturb Socket.IO, over WebSocket and polling', async () => {
    for (const transport of ['websocket', 'polling'] as const) {
      await using client = await WireClient.connect(daemon.url, [transport]);
      const [result, page] = await Promise.all([client.run('echo both'), get(daemon, '/metrics')]);
      expect(result).toMatchObject({ stdout: 'both\n' });
      expect(page.status).toBe(200);
    }
  });
});

describe('/readyz', () => {
  it('is 503 while the daemon ends; /healthz goes on, and then nobody listens', async () => {
    await using daemon = await TestDaemon.startCold();
    await using client = await WireClient.connect(daemon.url);
    const { command_id } = await client.run(IGNORES_TERM, await client.openSession(), {
      background: true,
      stream: true,
    });
    await client.event('command_output', (event) => event.command_id === command_id);
    daemon.signal('SIGTERM');
    await client.event('server_shutdown');
    expect(await get(daemon, '/readyz')).toMatchObject({
      status: 503,
      body: { status: 'unavailable', reason: 'SHUTTING_DOWN', message: 'the daemon is being stopped' },
    });
    expect((await get(daemon, '/healthz')).status).toBe(200);
    expect((await get(daemon, '/metrics')).text).toContain('shell_adapter_sessions_closed_total{reason="shutdown"} 1');
    expect(await daemon.exited).toBe(0);
    await expect(get(daemon, '/healthz')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('tells how many errors nothing has caught, and when the last one was, without their texts', async () => {
    using folder = makeFolder();
    const fault = join(folder.path, 'fault.cjs');
    writeFileSync(fault, "process.on('SIGUSR2', () => void Promise.reject(new Error('text of the fault')));\n");
    await using daemon = await TestDaemon.start({ env: { NODE_OPTIONS: `--require ${fault}` } });
    const before = Date.now();
    for (const count of [1, 2]) {
      daemon.signal('SIGUSR2');
      const answer = await eventually(async () => {
        const found = await get(daemon, '/readyz');
        expect(found).toMatchObject({ status: 200, body: { status: 'ready', uncaught_errors: { count } } });
        return found;
      });
      const { uncaught_errors: uncaught } = answer.body as { uncaught_errors: { last_at: string } };
      expect(Date.parse(uncaught.last_at)).toBeGreaterThanOrEqual(before);
      expect(answer.text).not.toContain('text of the fault');
      expect((await get(daemon, '/metrics')).text).toContain(`shell_adapter_uncaught_errors_total ${String(count)}\n`);
    }
  });

  it('is 503 with the reason while shells cannot be started, and recovers', async () => {
    using folder = makeFolder();
    const shell = join(folder.path, 'bash');
    copyFileSync(realpathSync('/bin/bash'), shell);
    await using daemon = await TestDaemon.startCold({ settings: { adapter: { shell, prewarm: { sessions: 0 } } } });
    await using client = await WireClient.connect(daemon.url);
    // The first answer waits for a shell less than a second.
    await eventually(async () => {
      expect((await get(daemon, '/readyz')).status).toBe(200);
    });
    rmSync(shell);
    const { error } = await client.request('open_session', {});
    expect(error?.code).toBe('SHELL_FAILED');
    expect(await get(daemon, '/readyz')).toMatchObject({
      status: 503,
      body: { status: 'unavailable', reason: 'SHELL_FAILED', message: expect.stringContaining(shell) as string },
    });
    copyFileSync(realpathSync('/bin/bash'), shell);
    expect(await get(daemon, '/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } });
    expect(await client.run('echo back', await client.openSession())).toMatchObject({ stdout: 'back\n' });
  });

  it('notices at once that the shell that was ready is not followed by another', async () => {
    using folder = makeFolder();
    const shell = join(folder.path, 'bash');
    copyFileSync(realpathSync('/bin/bash'), shell);
    await using daemon = await TestDaemon.start({ settings: { adapter: { shell } } });
    await using client = await WireClient.connect(daemon.url);
    rmSync(shell);
    expect((await get(daemon, '/readyz')).status).toBe(200);
    const id = await client.openSession();
    await eventually(async () => {
      expect((await get(daemon, '/readyz')).body).toMatchObject({ status: 'unavailable', reason: 'SHELL_FAILED' });
    });
    expect(await client.run('echo goes on', id)).toMatchObject({ stdout: 'goes on\n' });
  });

  it('does not wait for a shell that hangs, and neither does the end of the daemon', async () => {
    using folder = makeFolder();
    const shell = join(folder.path, 'bash');
    copyFileSync(realpathSync('/bin/bash'), shell);
    // No shells for one-shots either: whether they are still being started is not the question here.
    const prewarm = { sessions: 0, one_shots: 0 };
    await using daemon = await TestDaemon.startCold({ settings: { adapter: { shell, prewarm } } });
    rmSync(shell);
    writeFileSync(shell, '#!/bin/sh\ntrap "" HUP TERM INT\nsleep 300\n');
    chmodSync(shell, 0o755);
    for (const answer of await Promise.all([get(daemon, '/readyz'), get(daemon, '/readyz')]))
      expect(answer).toMatchObject({ status: 503, body: { reason: 'SHELL_FAILED' } });
    expect(await daemon.stop()).toBe(0);
    expect(runtimeDirectoriesOf(daemon.pid)).toEqual([]);
  });
});
