import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { afterEach, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { PROCESS_HANG_MS } from '../../support/hang.js';
import { WireClient } from '../../support/wire.js';
import { callCli } from './in-process.js';
import { CliProcess, CliTerminal, makeFolder, runCli, urlVariable } from './support.js';

const daemons: TestDaemon[] = [];
const start = async (...args: Parameters<typeof TestDaemon.start>): Promise<TestDaemon> => {
  const daemon = await TestDaemon.startCold(...args);
  daemons.push(daemon);
  return daemon;
};
afterEach(async () => {
  for (const daemon of daemons.splice(0).reverse()) await daemon[Symbol.asyncDispose]();
});

/** A server on a port of its own that treats each connection like this. */
async function serverThat(handle: (socket: Socket) => void): Promise<AsyncDisposable & { readonly port: number }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    handle(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('status and stop', () => {
  it('describe the daemon at the address, and end it', async () => {
    const daemon = await start();
    await using client = await WireClient.connect(daemon.url);
    await client.openSession();
    const text = await runCli(['status', '--url', daemon.url]);
    expect(text.code).toBe(0);
    expect(text.stdout).toContain(`running at ${daemon.url}\n`);
    expect(text.stdout).toMatch(new RegExp(`^workspace +${daemon.workspace}$`, 'm'));
    const { code, stdout } = await callCli(['status', '--url', daemon.url, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      state: 'running',
      url: daemon.url,
      pid: daemon.pid,
      sessions: 1,
      clients: 2,
      configuration_file: join(daemon.directory, 'config.yaml'),
      workspace_directory: daemon.workspace,
      caller: { name: 'local', role: 'admin', has_token: false },
    });
    const stopped = await runCli(['stop', '--url', daemon.url]);
    expect(stopped).toMatchObject({ code: 0, stdout: `stopped the daemon at ${daemon.url} (process ${daemon.pid})\n` });
    expect(existsSync(`/proc/${daemon.pid}/exe`)).toBe(false);
    expect(await daemon.exited).toBe(0);
  });

  it('say that none runs, as systemctl does', async () => {
    const url = 'http://127.0.0.1:1';
    const status = await callCli(['status', '--url', url]);
    expect(status.code).toBe(3);
    expect(status.stdout).toMatch(/^stopped: no daemon answers at http:\/\/127\.0\.0\.1:1: start one/);
    expect(JSON.parse((await callCli(['status', '--url', url, '--json'])).stdout)).toMatchObject({ state: 'stopped' });
    expect(await callCli(['stop', '--url', url])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('not running') as string,
    });
  });

  it('say that the daemon does not accept this client, and what to do', async () => {
    const daemon = await start({ settings: { auth: { mode: 'token' } } });
    const { code, stdout } = await runCli(['status', '--url', daemon.url]);
    expect(code).toBe(4);
    expect(stdout).toContain('a token is needed');
    const stop = await runCli(['stop', '--url', daemon.url]);
    expect(stop.code).toBe(1);
    expect(stop.stderr).toContain('Give a token by SHELL_ADAPTER_TOKEN');
  });
});

describe('a port where something else listens', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['resets every connection', (socket) => socket.resetAndDestroy()],
    ['says nothing', () => undefined],
    ['answers something that is no HTTP', (socket) => socket.end('220 mail\r\n')],
  ])('that %s: serve says so and ends', async (_what, handle) => {
    using folder = makeFolder();
    await using other = await serverThat(handle);
    const { code, stderr } = await runCli(['serve', '--port', String(other.port)], {
      cwd: folder.path,
      env: { HOME: folder.path, XDG_STATE_HOME: join(folder.path, 'state') },
    });
    expect(code).toBe(1);
    expect(stderr).toContain(`port 127.0.0.1:${other.port} is taken by another program`);
  });

  it('that says nothing is reported', async () => {
    await using other = await serverThat(() => undefined);
    const from = performance.now();
    const { code, stderr } = await callCli(['sessions', '--url', `http://127.0.0.1:${other.port}`]);
    expect(code).toBe(1);
    expect(stderr).toContain('does not answer');
    expect(performance.now() - from).toBeLessThan(PROCESS_HANG_MS);
  });
});

describe('a daemon that is killed and started again', () => {
  it('is reported by exec at once, and that it was restarted', async () => {
    const daemon = await start();
    const { port } = new URL(daemon.url);
    await using exec = new CliProcess(['exec', '-n', '--url', daemon.url, 'echo up; sleep 60']);
    await exec.until('stdout', /up/);
    daemon.signal('SIGKILL');
    await exec.until('stderr', /^shell-adapter: the connection to the daemon was lost; trying again for 30 s$/m);
    await daemon.exited;
    await start({ settings: { socketio: { port: Number(port) } } }, daemon.directory);
    const { code, stderr } = await exec.ended;
    expect(code).toBe(125);
    expect(stderr).toContain('shell-adapter: the daemon was restarted: its earlier sessions and commands have ended\n');
    expect(stderr).toContain('the daemon was restarted: the command was ended with it, or never ran');
  });
});

describe('sessions --watch', () => {
  it('prints a line for each change when it is no terminal', async () => {
    const daemon = await start();
    await using client = await WireClient.connect(daemon.url);
    const id = await client.openSession();
    await using watch = new CliProcess(['sessions', '--watch', '--url', daemon.url]);
    await watch.until('stdout', new RegExp(`^\\S+Z open ${id} idle -$`, 'm'));
    const running = client.run('sleep 60', id);
    await watch.until('stdout', new RegExp(`changed ${id} busy sleep 60$`, 'm'));
    await client.request('close_session', { session_id: id });
    await running;
    await watch.until('stdout', new RegExp(`closed ${id} `, 'm'));
    watch.child.kill('SIGINT');
    expect((await watch.ended).code).toBe(0);
  });

  it('redraws a table on a terminal', async () => {
    const daemon = await start();
    await using client = await WireClient.connect(daemon.url);
    await using terminal = new CliTerminal(['sessions', '--watch', '--url', daemon.url], { cols: 150 });
    await terminal.until(/No session is open\./);
    const id = await client.openSession({ label: '日本' });
    await terminal.until(new RegExp(`\\x1b\\[H[^]*${id} +bash +idle [^]*日本`));
    terminal.type('\u0003');
    expect(await terminal.ended).toBe(0);
  });
});

describe('close --all', () => {
  it('closes every session, and takes no ids beside it', async () => {
    const daemon = await start();
    await using client = await WireClient.connect(daemon.url);
    const ids = [await client.openSession(), await client.openSession()];
    const { code, stdout } = await callCli(['close', '--all', '--url', daemon.url]);
    expect({ code, lines: stdout.trim().split('\n').sort() }).toEqual({
      code: 0,
      lines: ids.map((id) => `closed ${id}`).sort(),
    });
    expect((await callCli(['close', '--all', '--url', daemon.url])).code).toBe(0);
    expect((await callCli(['close', '--all', 'x', '--url', daemon.url])).code).toBe(2);
    expect((await callCli(['close', '--url', daemon.url])).code).toBe(2);
  });
});

describe('hints', () => {
  it('repeat the --url that was given', async () => {
    const daemon = await start({ settings: { confirmation: { mode: 'self', checkpoint: false } } });
    const { url } = daemon;
    const denied = await callCli(['exec', '-n', '--url', url, 'rm -r x']);
    const [, line = ''] = /^Confirm it: (.*)$/m.exec(denied.stderr) ?? [];
    expect(line).toMatch(new RegExp(`^\\S+ .*confirm confirmation_\\S+ --approve --justification '…' --url ${url}$`));
    const unknown = await callCli(['attach', 'session_x', '--url', url]);
    expect(unknown.stderr).toContain(`sessions --url ${url}\` lists`);
  });
});

describe('confirm --watch', () => {
  it('says at the start what it watches, and that it decides nothing without a token of an operator', async () => {
    const daemon = await start({ settings: { confirmation: { mode: 'operator' } } });
    await using without = new CliProcess(['confirm', '--watch', '--url', daemon.url]);
    await without.until('stderr', /^shell-adapter: watching http\S+ as local \(admin\) until Ctrl-C$/m);
    await without.until('stderr', /confirmed by an operator, which this client is not[^]*token create --role operator/);
    const token = daemon.createToken('operator', 'op');
    await using operator = new CliProcess(['confirm', '--watch', '--url', daemon.url], {
      env: { SHELL_ADAPTER_TOKEN: token },
    });
    await operator.until('stderr', /watching http\S+ as op \(operator\) until Ctrl-C\n/);
    operator.child.kill('SIGINT');
    expect((await operator.ended).stderr).not.toContain('token create');
  });
});

describe('doctor and config show', () => {
  it('report the daemon that they talk to, and that it is another than that of this directory', async () => {
    const daemon = await start();
    using folder = makeFolder();
    const options = { cwd: folder.path, env: { HOME: folder.path, ...urlVariable(daemon) } };
    const doctor = await runCli(['doctor'], options);
    expect(doctor.stdout).toMatch(new RegExp(`^ok +daemon workspace +${daemon.workspace}$`, 'm'));
    expect(doctor.stdout).toMatch(/^warn +daemon differs +.*workspace.*\n +fix: .*--config .*config\.yaml$/m);
    const show = await callCli(['config', 'show'], options);
    expect(show.stdout).toContain(
      `daemon: ${daemon.url}, version 0.1.0, file ${daemon.directory}/config.yaml, workspace ${daemon.workspace}\n`,
    );
    expect(show.stdout).toContain('These are not the settings of that daemon');
    const same = await callCli([
      'config',
      'show',
      '--config',
      join(daemon.directory, 'config.yaml'),
      '--url',
      daemon.url,
    ]);
    expect(same.stdout).not.toContain('These are not the settings');
  });
});

describe('the version', () => {
  it.each([['version'], ['-v'], ['-V'], ['--version']])('is printed by %s', async (word) => {
    const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    expect(await runCli([word])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
  });
});

describe('a suggestion', () => {
  it.each([
    [['exce'], 'Did you mean exec?'],
    [['sess'], 'Did you mean sessions?'],
    [['exec', '--timout', '5', 'x'], 'Did you mean --timeout?'],
    [['exec', '--shell', 'x'], undefined],
    [['zebra'], undefined],
  ])('for %j: %s', async (args, suggestion) => {
    const { stderr } = await callCli(args);
    if (suggestion === undefined) expect(stderr).not.toContain('Did you mean');
    else expect(stderr).toContain(suggestion);
  });
});
