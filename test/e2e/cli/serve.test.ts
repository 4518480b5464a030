import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';

import { WireClient } from '../../support/wire.js';
import { CliProcess, CliTerminal, makeFolder, runCli } from './support.js';

/** No shells ahead of need: nothing is under way when the daemon leaves without an orderly end. */
const NOTHING = { sessions: 0, one_shots: 0 };

/** A configuration in a folder of its own. */
function writeConfiguration(folder: string, settings: { adapter?: object; logging?: object } = {}): string {
  const file = join(folder, 'config.yaml');
  const { adapter, logging } = settings;
  writeFileSync(
    file,
    stringify({
      adapter: { workspace_directory: 'workspace', state_directory: 'state', ...adapter },
      logging: { log_file_path: 'log', ...logging },
      socketio: { port: 0 },
    }),
  );
  return file;
}

/** Code that runs in the daemon before its own: what injects a fault. */
const inject = (code: string) => ({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` });

async function startDaemon(
  folder: string,
  options: { readonly settings?: Parameters<typeof writeConfiguration>[1]; readonly env?: Record<string, string> } = {},
): Promise<CliProcess & { readonly url: string; readonly file: string }> {
  const file = writeConfiguration(folder, options.settings);
  const serve = new CliProcess(['serve', '--config', file], { env: options.env ?? {} });
  const [, url = ''] = await serve.until('stdout', /^listening on (http:\/\/127\.0\.0\.1:\d+)\n/);
  return Object.assign(serve, { url, file });
}

describe('serve, when it is ready', () => {
  it('prints the address as its one line, and answers there', async () => {
    using folder = makeFolder();
    await using serve = await startDaemon(folder.path);
    const { url } = serve;
    await using client = await WireClient.connect(url);
    expect((await client.run('echo up')).stdout).toBe('up\n');
    serve.child.kill('SIGTERM');
    expect(await serve.ended).toMatchObject({ code: 0, stdout: `listening on ${url}\n` });
  });

  it('prints a line to try on a terminal and a link to the dashboard, which work as they are', async () => {
    using folder = makeFolder();
    await using terminal = new CliTerminal(['serve', '--config', writeConfiguration(folder.path)], { cols: 300 });
    const [, line = ''] = await terminal.until(/try: (.+)\r\n/);
    const [, url = ''] = /--url (\S+)/.exec(line) ?? [];
    expect(line).toMatch(/^node \S*dist\/shell-adapter\.cjs exec --url http:\S+ 'echo hello'$/);
    expect(await runCli(['exec', '--url', url, 'echo hello'])).toMatchObject({ code: 0, stdout: 'hello\n' });
    const [, code = ''] = await terminal.until(/dashboard: \S+\/#code=([\w-]{43}) \(counts once, for 10 minutes\)/);
    const headers = { origin: url, 'content-type': 'application/json' };
    const body = JSON.stringify({ code });
    expect((await fetch(`${url}/session`, { method: 'POST', headers, body })).status).toBe(200);
    expect(readFileSync(join(folder.path, 'log'), 'utf8')).not.toContain(code);
    terminal.type('\u0003');
    expect(await terminal.ended).toBe(0);
  });

  it('listens where --host and --port say, whatever the file says', async () => {
    using folder = makeFolder();
    const file = writeConfiguration(folder.path);
    await using serve = new CliProcess(['serve', '--config', file, '--host', '127.0.0.3', '--port', '0', '--example']);
    const [, url = ''] = await serve.until('stdout', /^listening on (http:\/\/127\.0\.0\.3:[1-9]\d*)\ntry: /);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    serve.child.kill('SIGINT');
    expect((await serve.ended).code).toBe(0);
  });
});

describe('serve, when it cannot start', () => {
  it('says that a daemon has the port already, and what to do', async () => {
    using folder = makeFolder();
    await using serve = await startDaemon(folder.path);
    const { url, file } = serve;
    const { port } = new URL(url);
    const { code, stdout, stderr } = await runCli(['serve', '--config', file, '--port', port]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`shell-adapter: a shell-adapter daemon listens on 127.0.0.1:${port} already`);
    expect(stderr).toContain('--port');
    expect(stderr).not.toMatch(/^ +at /m);
    serve.child.kill('SIGTERM');
    await serve.ended;
  });

  it('says that another program has the port, and how to find it', async () => {
    using folder = makeFolder();
    const server = createServer((_request, response) => response.end('something else'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const file = writeConfiguration(folder.path);
    const { code, stderr } = await runCli(['serve', '--config', file, '--port', String(port)]);
    server.close();
    server.closeAllConnections();
    expect(code).toBe(1);
    expect(stderr).toContain(`port 127.0.0.1:${port} is taken by another program`);
    expect(stderr).toContain(`ss -ltnp`);
  });

  it.each([
    ['an unknown key', 'adapter: { max_session: 4 }', ':1:12: adapter.max_session: unknown key; did you mean'],
    ['two problems', 'adapter:\n  max_sessions: -1\nsocketio: { port: x }', '2 problems in the configuration:'],
    ['no YAML', 'adapter: [', ':1:'],
  ])('says what is wrong with a configuration: %s', async (_what, text, message) => {
    using folder = makeFolder();
    const file = join(folder.path, 'bad.yaml');
    writeFileSync(file, text);
    const { code, stdout, stderr } = await runCli(['serve', '--config', file]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(file);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^ +at /m);
  });

  it('says that a configuration is not there', async () => {
    const { code, stderr } = await runCli(['serve', '--config', '/nowhere/config.yaml']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^shell-adapter: \/nowhere\/config\.yaml: cannot be read/);
  });

  it('says that the shell is not there', async () => {
    using folder = makeFolder();
    const file = writeConfiguration(folder.path, { adapter: { shell: '/nowhere/bash' } });
    const { code, stderr } = await runCli(['serve', '--config', file]);
    expect(code).toBe(1);
    expect(stderr).toContain('/nowhere/bash');
    expect(stderr).toContain('shell-adapter doctor');
  });

  it('ends when an error comes up that nobody catches', async () => {
    using folder = makeFolder();
    const env = inject(
      `import http from "node:http"; http.Server.prototype.listen = () => { setImmediate(() => { throw new Error("injected") }) }`,
    );
    const file = writeConfiguration(folder.path, { adapter: { prewarm: NOTHING } });
    const { code, stderr } = await runCli(['serve', '--config', file], { env });
    expect(code).toBe(1);
    expect(stderr).toContain('the daemon could not start: injected');
  });
});

describe('serve, while it runs', () => {
  it('reads its configuration again at SIGHUP, and keeps the old one when the new one is bad', async () => {
    using folder = makeFolder();
    await using serve = await startDaemon(folder.path, { settings: { adapter: { max_output_size: 10 } } });
    const { url, file } = serve;
    await using client = await WireClient.connect(url);
    const limit = async () => (await client.request('shell_metadata')).limits.max_output_size;
    expect(await limit()).toBe(10);

    const changed = { adapter: { max_output_size: 20, shell: '/bin/bash' }, logging: { log_file_path: 'other-log' } };
    writeConfiguration(folder.path, changed);
    serve.child.kill('SIGHUP');
    await serve.until('stderr', /INFO the configuration was read again/);
    await serve.until('stderr', /WARNING some changes wait for the next start of the daemon .*adapter\.shell/);
    expect(await limit()).toBe(20);

    writeFileSync(file, 'adapter:\n  max_output_size: many\n');
    serve.child.kill('SIGHUP');
    await serve.until(
      'stderr',
      /ERROR the configuration was read again and has errors; the old one stays .*config\.yaml:2:20/,
    );
    expect(await limit()).toBe(20);
    expect((await client.run('echo still here')).stdout).toBe('still here\n');

    serve.child.kill('SIGTERM');
    expect((await serve.ended).code).toBe(0);
    expect(readFileSync(join(folder.path, 'other-log'), 'utf8')).toContain('the old one stays');
  });

  it.each([
    ['an exception', 'throw new Error("injected")'],
    ['a rejection', 'void Promise.reject(new Error("injected"))'],
  ])('logs %s that nobody catches, and lives', async (_what, code) => {
    using folder = makeFolder();
    const env = inject(`process.on("SIGUSR2", () => { ${code} })`);
    await using serve = await startDaemon(folder.path, { env });
    const { url } = serve;
    await using client = await WireClient.connect(url);
    const id = await client.openSession();
    serve.child.kill('SIGUSR2');
    await serve.until('stderr', /ERROR an uncaught error; the daemon goes on error=.*injected/);
    expect((await client.run('echo alive', id)).stdout).toBe('alive\n');
    serve.child.kill('SIGTERM');
    expect((await serve.ended).code).toBe(0);
  });
});

describe('serve, when it is told to end', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('tells the clients and exits with 0: %s', async (signal) => {
    using folder = makeFolder();
    await using serve = await startDaemon(folder.path);
    const { url } = serve;
    await using client = await WireClient.connect(url);
    const id = await client.openSession();
    const running = client.run('echo up; sleep 60', id, { stream: true });
    await client.event('command_output');
    serve.child.kill(signal);
    expect(await client.event('server_shutdown')).toMatchObject({ reason: signal });
    expect(await running).toMatchObject({ killed_by: 'shutdown' });
    expect((await serve.ended).code).toBe(0);
  });

  it('exits at once at the second signal', async () => {
    using folder = makeFolder();
    await using serve = await startDaemon(folder.path, {
      env: inject('import http from "node:http"; http.Server.prototype.close = () => {}'),
      settings: { adapter: { prewarm: NOTHING } },
    });
    const { url } = serve;
    await using client = await WireClient.connect(url);
    serve.child.kill('SIGTERM');
    await client.event('server_shutdown');
    serve.child.kill('SIGTERM');
    // Not 1, as when the time for ending in order is over.
    expect((await serve.ended).code).toBe(143);
  });

  it('exits in time when something hangs, and says so', async () => {
    using folder = makeFolder();
    await using serve = await startDaemon(folder.path, {
      env: inject('import http from "node:http"; http.Server.prototype.close = () => {}'),
      settings: { adapter: { prewarm: NOTHING } },
    });
    serve.child.kill('SIGTERM');
    expect((await serve.ended).code).toBe(1);
    expect(readFileSync(join(folder.path, 'log'), 'utf8')).toContain('the daemon could not end in time');
  });

  it('takes a signal that comes while it starts', async () => {
    using folder = makeFolder();
    const env = inject(
      'import http from "node:http"; const { listen } = http.Server.prototype; http.Server.prototype.listen = function (...args) { process.kill(process.pid, "SIGTERM"); return listen.apply(this, args) }',
    );
    const { code } = await runCli(['serve', '--config', writeConfiguration(folder.path)], { env });
    expect(code).toBe(0);
  });
});

it('goes on when its terminal is closed, and ends in order later', async () => {
  using folder = makeFolder();
  await using serve = new CliTerminal(['serve', '--config', writeConfiguration(folder.path)]);
  const [, url = ''] = await serve.until(/listening on (http\S+)/);
  serve.hangUp();
  for (const text of ['one', 'two']) {
    expect(await runCli(['exec', '--url', url, `echo ${text}`])).toMatchObject({ code: 0, stdout: `${text}\n` });
  }
  process.kill(serve.pid, 'SIGTERM');
  expect(await serve.ended).toBe(0);
});
