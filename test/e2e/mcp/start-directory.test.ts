import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { describe, expect } from 'vitest';

import { makeFolder } from '../cli/support.js';
import { daemonTest } from '../../support/daemon-test.js';
import { MCP_WAYS, McpClient, type McpClientOptions } from '../../support/network/mcp.js';

const it = daemonTest();

/** Where a command and a session of a client start. */
async function startsOf(client: McpClient): Promise<unknown[]> {
  const run = await client.call('run_command', { command: 'pwd' });
  const { answer } = await client.call('open_session');
  await client.call('close_session', { session_id: answer['session_id'] });
  return [String(run.answer['stdout']).trim(), answer['working_directory']];
}

const withRoot = (path: string): McpClientOptions => ({
  capabilities: { roots: {} },
  prepare: (client) => {
    client.setRequestHandler('roots/list', () => ({ roots: [{ uri: pathToFileURL(path).href }] }));
  },
});

describe.each(MCP_WAYS)('where commands start, over MCP by %s', (_, way) => {
  it('in the directory that was chosen, before any other', async ({ daemon }) => {
    using folder = makeFolder();
    const path = realpathSync(folder.path);
    await using client = await McpClient.connect(daemon.url, way, { ...withRoot('/usr'), query: { cwd: path } });
    expect(await startsOf(client)).toEqual([path, path]);
    mkdirSync(join(path, 'inner'));
    expect((await client.call('run_command', { command: 'pwd', cwd: 'inner' })).answer).toMatchObject({
      stdout: `${path}/inner\n`,
    });
    expect((await client.call('run_command', { command: 'pwd', cwd: '/usr' })).answer).toMatchObject({
      stdout: '/usr\n',
    });
    await client.call('write_file', { path: 'inner/file', content: 'found\n' });
    expect((await client.call('wait_for', { path: 'inner/file', timeout_ms: 1 })).answer).toMatchObject({ met: true });
    expect((await client.call('search_files', { pattern: 'found' })).answer).toMatchObject({
      matches: [{ path: 'inner/file' }],
    });
    const { tools } = await client.client.listTools();
    expect(tools.find(({ name }) => name === 'run_command')?.description).toContain(path);
    expect(client.client.getInstructions()).toContain(`Commands start in ${path}`);
  });

  it('in the workspace, where nothing was chosen and the server was started nowhere', async ({ daemon }) => {
    await using client = await McpClient.connect(daemon.url, way);
    expect(await startsOf(client)).toEqual([daemon.workspace, daemon.workspace]);
    expect(client.client.getInstructions()).toContain('Commands start in the workspace');
  });

  it('in the workspace, where the daemon has no such directory: the first answer says so', async ({ daemon }) => {
    await using client = await McpClient.connect(daemon.url, way, { query: { cwd: '/no/such/place' } });
    const first = await client.call('run_command', { command: 'pwd' });
    expect(first.answer).toEqual({
      exit_code: 0,
      note: "/no/such/place does not exist: commands start in the daemon's workspace instead",
      stdout: `${daemon.workspace}\n`,
      stderr: '',
    });
    const second = await client.call('run_command', { command: 'pwd', cwd: '.' });
    // By HTTP each request of the newest revision stands alone: there every answer says so.
    if (way.over === 'stdio' || way.mode === 'legacy') expect(second.answer).not.toHaveProperty('note');
    const asked = await client.call('run_command', { command: 'pwd', cwd: '/no/such/place' });
    expect(asked).toMatchObject({ isError: true, answer: { error: { code: 'BAD_DIRECTORY' } } });
  });

  it('in the first root of the client, if it is of a revision in which servers can ask for it', async ({ daemon }) => {
    await using client = await McpClient.connect(daemon.url, way, withRoot('/usr/bin'));
    const expected = way.mode === 'legacy' ? realpathSync('/usr/bin') : daemon.workspace;
    expect(await startsOf(client)).toEqual([expected, expected]);
  });

  it('as without roots, where a client offers them and gives none', async ({ daemon }) => {
    const options: McpClientOptions = {
      capabilities: { roots: {} },
      prepare: (client) => {
        client.setRequestHandler('roots/list', () => {
          throw new Error('not today');
        });
      },
    };
    await using client = await McpClient.connect(daemon.url, way, options);
    expect(await startsOf(client)).toEqual([daemon.workspace, daemon.workspace]);
  });
});

it('shell-adapter mcp starts commands in its own directory', async ({ daemon }) => {
  using folder = makeFolder();
  const path = realpathSync(folder.path);
  await using client = await McpClient.connect(daemon.url, { over: 'stdio', mode: 'legacy' }, { cwd: path });
  expect(await startsOf(client)).toEqual([path, path]);
});
