import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, statSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { io } from 'socket.io-client';
import { describe, expect, it } from 'vitest';

import { connect } from '../../../src/client/index.js';
import { TestDaemon } from '../../support/daemon.js';
import { WireClient } from '../../support/wire.js';

const MAIN = join(import.meta.dirname, '../../../dist/main.js');

/** A daemon that listens on a socket in a folder of its own. */
async function startWithSocket(settings: Record<string, Record<string, unknown>> = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'shell-adapter-test-'));
  const path = join(directory, 'run', 'socket');
  const daemon = await TestDaemon.startCold(
    { settings: { ...settings, socketio: { unix_socket: path, ...settings['socketio'] } } },
    directory,
  );
  return { daemon, path };
}

const status = (socketPath: string, headers: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    request({ socketPath, path: '/socket.io/?EIO=4&transport=polling', headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });

describe('the Unix socket', () => {
  it('takes clients without a token beside the port, is closed to others, and goes with the daemon', async () => {
    const { daemon, path } = await startWithSocket();
    await using started = daemon;
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    for (const transports of [['websocket'], ['polling']] as const) {
      await using client = await connect(`unix:${path}`, { transports });
      expect(client.url).toBe(`unix:${path}`);
      expect((await client.execute('echo by socket')).stdout).toBe('by socket\n');
    }
    await using network = await WireClient.connect(started.url);
    expect(await network.run('echo by port')).toMatchObject({ stdout: 'by port\n' });
    await started.stop();
    expect(existsSync(path)).toBe(false);
  });

  it('is understood by the command line, which says so when nobody listens', async () => {
    const { daemon, path } = await startWithSocket();
    await using started = daemon;
    const run = (...args: string[]) => spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8' });
    expect(run('exec', '--url', `unix:${path}`, '--no-stdin', 'echo hello')).toMatchObject({
      status: 0,
      stdout: 'hello\n',
    });
    expect(run('doctor', '--url', `unix:${path}`).stdout).toContain(`answers at unix:${path}`);
    await started.stop();
    const { stderr, status: code } = run('exec', '--url', `unix:${path}`, '--no-stdin', 'true');
    expect(code).toBe(125);
    expect(stderr).toContain(`no daemon answers at unix:${path} (ENOENT)`);
  });

  it('needs a token with auth.mode token, and from web pages', async () => {
    const { daemon, path } = await startWithSocket({ auth: { mode: 'token' } });
    await using started = daemon;
    await expect(connect(`unix:${path}`)).rejects.toMatchObject({ code: 'REFUSED', details: { code: 'UNAUTHORIZED' } });
    await using client = await connect(`unix:${path}`, { token: started.tokens.readFirstSecret() });
    expect((await client.execute('true')).exit_code).toBe(0);
  });

  it('looks at Host and Origin as the port does', async () => {
    const { daemon, path } = await startWithSocket({ socketio: { cors_allowed_origins: ['https://page.example'] } });
    await using started = daemon;
    expect(started.url).toBeTruthy();
    expect(await status(path, { host: 'localhost' })).toBe(200);
    expect(await status(path, { host: 'evil.example' })).toBe(403);
    expect(await status(path, { origin: 'https://evil.example' })).toBe(403);
    const page = io('http://localhost', {
      agent: new Agent({ socketPath: path } as object) as unknown as string,
      extraHeaders: { origin: 'https://page.example' },
      transports: ['polling'],
      reconnection: false,
    });
    const error = await new Promise<Error & { data?: unknown }>((resolve) => page.on('connect_error', resolve));
    page.disconnect();
    expect(error.data).toMatchObject({ code: 'UNAUTHORIZED' });
  });

  it('of a daemon that was killed is taken over; that of a live one is not', async () => {
    const { daemon, path } = await startWithSocket();
    daemon.signal('SIGKILL');
    await daemon.exited;
    expect(existsSync(path)).toBe(true);
    const socketio = { unix_socket: path };
    await using again = await TestDaemon.startCold({ settings: { socketio } }, daemon.directory);
    await using client = await connect(`unix:${path}`);
    expect((await client.execute('true')).exit_code).toBe(0);
    await expect(TestDaemon.startCold({ settings: { socketio } })).rejects.toThrow(
      `another daemon listens on ${path} already`,
    );
    expect(again.pid).toBeGreaterThan(0);
  });

  it('in a folder that others can enter is refused', async () => {
    const { daemon, path } = await startWithSocket();
    await using started = daemon;
    const open = join(started.directory, 'open');
    mkdirSync(open);
    chmodSync(open, 0o755);
    const socketio = { unix_socket: join(open, 'socket') };
    await expect(TestDaemon.startCold({ settings: { socketio } })).rejects.toThrow(`others can enter ${open}`);
    expect(existsSync(path)).toBe(true);
  });
});
