import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

import { stringify } from 'yaml';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { CliProcess, makeFolder, runCli } from '../cli/support.js';
import { TestDaemon } from '../../support/daemon.js';
import { PROCESS_HANG_MS } from '../../support/hang.js';
import { MCP_WAYS, McpClient } from '../../support/network/mcp.js';
import { eventually } from '../../support/measure.js';
import { isRunning } from '../../support/processes.js';

/** Longest time until an agent is told that there is no daemon, in milliseconds. */
const TOLD_MS = PROCESS_HANG_MS;

const STDIO_WAYS = MCP_WAYS.filter(([, { over }]) => over === 'stdio');

/** A port that nothing listens on. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** Calls a tool; gives the answer and how long it took, in milliseconds. */
async function timed(client: McpClient) {
  const startedAt = performance.now();
  const { isError, answer } = await client.call('run_command', { command: 'echo hi' });
  return { isError, answer, ms: performance.now() - startedAt };
}

describe.each(STDIO_WAYS)('shell-adapter mcp without a daemon: %s', (_, way) => {
  it('lists its tools, answers calls within two seconds, and works once there is a daemon', async () => {
    const port = await freePort();
    await using client = await McpClient.connect(`http://127.0.0.1:${port}`, way, { tools: 'core' });
    const { tools } = await client.client.listTools();
    expect(tools.map(({ name }) => name)).toContain('run_command');
    expect(JSON.stringify(tools).length / 4).toBeLessThan(2100);
    const main = tools.filter(({ _meta }) => _meta?.['anthropic/alwaysLoad'] === true).map(({ name }) => name);
    expect(main).toEqual(['run_command', 'open_session', 'execute_command']);
    const { isError, answer, ms } = await timed(client);
    expect(isError).toBe(true);
    expect(answer).toMatchObject({
      error: { code: 'CONNECTION_FAILED', message: expect.stringContaining(`127.0.0.1:${port}`) as string },
      next: expect.stringMatching(/shell-adapter serve.*mcp --start/) as string,
    });
    expect(ms).toBeLessThan(TOLD_MS);
    await using daemon = await TestDaemon.startCold({ settings: { socketio: { port } } });
    expect(daemon.url).toContain(String(port));
    expect(await client.call('run_command', { command: 'echo hi' })).toMatchObject({ answer: { stdout: 'hi\n' } });
  });

  it('a daemon that goes away is told within two seconds, and one that comes back is used', async () => {
    const port = await freePort();
    const settings = { socketio: { port } };
    await using client = await McpClient.connect(`http://127.0.0.1:${port}`, way);
    {
      await using daemon = await TestDaemon.startCold({ settings });
      expect((await timed(client)).answer).toMatchObject({ stdout: 'hi\n' });
      const running = client.call('run_command', { command: 'touch begun; exec sleep 300' });
      await eventually(async () => {
        expect((await client.call('run_command', { command: 'test -e begun' })).answer).toMatchObject({ exit_code: 0 });
      });
      daemon.signal('SIGKILL');
      await daemon.exited;
      expect((await running).answer).toMatchObject({
        error: { code: 'CONNECTION_LOST' },
        next: expect.stringMatching(/wait_command\(command_id='command_[\w-]+'\)/) as string,
      });
      const { isError, ms } = await timed(client);
      expect(isError).toBe(true);
      expect(ms).toBeLessThan(TOLD_MS);
    }
    await using daemon = await TestDaemon.startCold({ settings });
    expect(daemon.url).toContain(String(port));
    expect(await client.call('run_command', { command: 'echo hi' })).toMatchObject({ answer: { stdout: 'hi\n' } });
  });

  it('what was answered with an error is not run later', async () => {
    const port = await freePort();
    using folder = makeFolder();
    await using client = await McpClient.connect(`http://127.0.0.1:${port}`, way);
    const mark = join(folder.path, 'mark');
    expect(await client.call('run_command', { command: `echo ran >> ${mark}` })).toMatchObject({ isError: true });
    await using daemon = await TestDaemon.startCold({ settings: { socketio: { port } } });
    expect(daemon.url).toContain(String(port));
    const { answer } = await client.call('run_command', { command: `cat ${mark}` });
    expect(answer).toMatchObject({ exit_code: 1, stdout: '' });
  });
});

it('a port that is silent is told within two seconds', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const sockets = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => sockets.add(socket));
  try {
    await using client = await McpClient.connect(`http://127.0.0.1:${port}`, { over: 'stdio', mode: 'legacy' });
    // The first call may wait for the program to load what it connects with.
    expect(await client.call('run_command', { command: 'echo hi' })).toMatchObject({ isError: true });
    const { isError, ms } = await timed(client);
    expect(isError).toBe(true);
    expect(ms).toBeLessThan(TOLD_MS);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

describe('shell-adapter mcp --start', () => {
  let folder: ReturnType<typeof makeFolder>;
  let config: string;

  beforeEach(async () => {
    folder = makeFolder();
    config = join(folder.path, 'config.yaml');
    const adapter = {
      workspace_directory: join(folder.path, 'workspace'),
      state_directory: join(folder.path, 'state'),
    };
    const logging = { log_file_path: join(folder.path, 'log') };
    writeFileSync(config, stringify({ adapter, logging, socketio: { port: await freePort() } }));
  });

  afterEach(async () => {
    for (const pid of startedPids()) if (isRunning(pid)) process.kill(pid, 'SIGTERM');
    await eventually(() => {
      expect(startedPids().filter(isRunning)).toEqual([]);
    });
    folder[Symbol.dispose]();
  });

  const stateFolder = () => join(folder.path, 'state');
  /** Of two that start at once, one may write `audit-2.jsonl`. */
  const auditFiles = () =>
    existsSync(stateFolder()) ? readdirSync(stateFolder()).filter((name) => /^audit.*\.jsonl$/.test(name)) : [];
  const startedPids = () =>
    auditFiles()
      .flatMap((name) => readFileSync(join(stateFolder(), name), 'utf8').split('\n'))
      .filter((line) => line.includes('"daemon_started"'))
      .map((line) => Number(/"pid":(\d+)/.exec(line)?.[1]));

  const listen = { jsonrpc: '2.0', method: 'notifications/initialized' };
  const call = (id: number, command: string) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'run_command', arguments: { command } },
  });
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  };

  it('two at once start one daemon, which goes on when both have ended', async () => {
    const clients = [0, 1].map(() => new CliProcess(['mcp', '--start', '--config', config], { input: { open: true } }));
    try {
      for (const { child } of clients) {
        for (const message of [initialize, listen, call(2, 'echo "up $PPID"')]) {
          child.stdin?.write(`${JSON.stringify(message)}\n`);
        }
      }
      for (const client of clients) await client.until('stdout', /\\"stdout\\":\\"up \d+/);
    } finally {
      for (const client of clients) client.child.stdin?.end();
      for (const client of clients) expect(await client.ended).toMatchObject({ code: 0 });
    }
    // Records are written in the background.
    const [pid, ...others] = await eventually(() => {
      const pids = startedPids();
      expect(pids).not.toEqual([]);
      return pids;
    });
    expect(others).toEqual([]);
    expect(isRunning(pid ?? 0)).toBe(true);
    expect(await runCli(['exec', '--config', config, 'echo still here'])).toMatchObject({ stdout: 'still here\n' });
  });

  it('obeys no configuration that merely lies in the current directory', async () => {
    mkdirSync(join(folder.path, 'config'));
    writeFileSync(
      join(folder.path, 'config/shell_adapter.yaml'),
      stringify({ confirmation: { mode: 'off' }, audit: { enabled: false } }),
    );
    const env = {
      SHELL_ADAPTER_ADAPTER_STATE_DIRECTORY: stateFolder(),
      SHELL_ADAPTER_SOCKETIO_PORT: String(await freePort()),
      HOME: folder.path,
    };
    await using client = new CliProcess(['mcp', '--start'], { cwd: folder.path, env, input: { open: true } });
    for (const message of [initialize, listen, call(2, 'cat state/token | wc -c')]) {
      client.child.stdin?.write(`${JSON.stringify(message)}\n`);
    }
    await client.until('stdout', /\\"status\\":\\"confirmation_required\\"/);
    expect(client.text('stderr')).toMatch(/config\/shell_adapter\.yaml is ignored: read it, .*config trust/);
    await eventually(() => {
      expect(startedPids()).toHaveLength(1);
    });
    client.child.stdin?.end();
    expect(await client.ended).toMatchObject({ code: 0 });
  });

  it('takes no address: it starts the daemon of a configuration', async () => {
    const { code, stderr } = await runCli(['mcp', '--start', '--url', 'http://127.0.0.1:1'], { input: '' });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('leave out --url') as string });
  });
});

describe('shell-adapter skill', () => {
  it('prints the page for agents, with the front matter that they read', async () => {
    const { code, stdout } = await runCli(['skill']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^---\nname: shell-adapter\ndescription: .{40,}\n---\n/);
    const { stdout: tools } = await runCli(['tools', '--tools', 'core', '--format', 'anthropic']);
    const names = (JSON.parse(tools) as { name: string }[]).map(({ name }) => name);
    for (const name of names.filter((tool) => tool !== 'confirm_command')) expect(stdout).toContain(`\`${name}(`);
    expect(stdout.split('\n').length).toBeLessThan(60);
  });
});
