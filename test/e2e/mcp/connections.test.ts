import { once } from 'node:events';

import { describe, expect } from 'vitest';

import { CliProcess, runCli } from '../cli/support.js';
import { TestDaemon } from '../../support/daemon.js';
import { daemonTest } from '../../support/daemon-test.js';
import { ask } from '../../support/http.js';
import { MCP_WAYS, McpClient } from '../../support/network/mcp.js';
import { INITIALIZE, JSON_HEADERS } from './support.js';

const it = daemonTest();
const itWithTokens = daemonTest({ settings: { auth: { mode: 'token' } } });

describe('who may use MCP', () => {
  // A daemon of its own: wrong tokens make it refuse others from the same address for a while.
  it('without a token where one is needed: 401', async () => {
    await using daemon = await TestDaemon.startCold({ settings: { auth: { mode: 'token' } } });
    for (const authorization of [undefined, 'Bearer wrong', 'Bearer local', 'Basic eDp5']) {
      const headers = { ...JSON_HEADERS, ...(authorization !== undefined && { authorization }) };
      const answer = await ask(new URL('/mcp', daemon.url), { method: 'POST', headers, body: INITIALIZE });
      expect(answer).toMatchObject({ status: 401, body: { error: { code: 'UNAUTHORIZED' } } });
      expect(await ask(new URL('/v1/tools', daemon.url), { headers })).toMatchObject({ status: 401 });
    }
  });

  itWithTokens.for(MCP_WAYS)(
    'a token acts by its role and sees its own sessions alone: %s',
    async ([name, way], { daemon }) => {
      const slug = name.replaceAll(/\W+/g, '-');
      const [agent, other, viewer] = [
        daemon.createToken('agent', `one-${slug}`),
        daemon.createToken('agent', `two-${slug}`),
        daemon.createToken('viewer', `eyes-${slug}`),
      ];
      await using first = await McpClient.connect(daemon.url, way, agent);
      await using second = await McpClient.connect(daemon.url, way, other);
      await using third = await McpClient.connect(daemon.url, way, viewer);
      const { session_id } = (await first.call('open_session')).answer;
      const foreign = await second.call('execute_command', { session_id, command: 'id' });
      expect(foreign).toMatchObject({ isError: true, answer: { error: { code: 'SESSION_NOT_FOUND' } } });
      expect(
        await third.client.callTool({ name: 'run_command', arguments: { command: 'id' } }).catch(String),
      ).toSatisfy((refusal) => typeof refusal === 'string' || JSON.stringify(refusal).includes('FORBIDDEN'));
      if (way.over === 'stdio') return;
      const names = (await third.client.listTools()).tools.map(({ name }) => name);
      expect(names).toContain('list_sessions');
      expect(names).not.toContain('run_command');
    },
  );

  it('with http.mcp: false there is none', async () => {
    await using daemon = await TestDaemon.startCold({ settings: { http: { mcp: false } } });
    const answer = await ask(new URL('/mcp', daemon.url), { method: 'POST', headers: JSON_HEADERS, body: INITIALIZE });
    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'UNKNOWN_REQUEST' } } });
  });
});

it.for([
  ['no JSON', '{', 400, -32700],
  ['too large', `"${'x'.repeat(2 * 1024 * 1024)}"`, 413, -32600],
] as const)('a message that is %s is answered in the form of MCP', async ([, body, status, code], { daemon }) => {
  const answer = await ask(new URL('/mcp', daemon.url), { method: 'POST', headers: JSON_HEADERS, body });
  expect(answer).toMatchObject({ status, body: { jsonrpc: '2.0', id: null, error: { code } } });
});

describe('shell-adapter mcp', () => {
  it('ends with its standard input, and leaves nothing but the sessions', async ({ daemon }) => {
    const { code, stdout, stderr } = await runCli(['mcp', '--url', daemon.url], { input: `${INITIALIZE}\n` });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { serverInfo: { name: 'shell-adapter' } } });
  });

  it('ends by a signal', async ({ daemon }) => {
    await using call = new CliProcess(['mcp', '--url', daemon.url], { input: { open: true } });
    call.child.stdin?.write(`${INITIALIZE}\n`);
    await once(call.child.stdout, 'data');
    call.child.kill('SIGTERM');
    expect(await call.ended).toMatchObject({ code: 0 });
  });
});

describe('GET /v1/tools', () => {
  it('is not needed for a list of tools over MCP: ?tools= selects there too', async ({ daemon }) => {
    for (const [tools, count] of [
      ['run', 1],
      ['core', 8],
      ['files', 12],
      ['terminal', 11],
      ['all', 24],
    ] as const) {
      for (const [, way] of MCP_WAYS) {
        // A program for each of them tells no more than one for some.
        if (way.over === 'stdio' && tools !== 'core' && tools !== 'terminal') continue;
        await using client = await McpClient.connect(daemon.url, way, { tools });
        expect((await client.client.listTools()).tools).toHaveLength(count);
      }
    }
    for (const query of ['tools=some', 'cwd=relative']) {
      const wrong = new URL(`/mcp?${query}`, daemon.url);
      const answer = await ask(wrong, { method: 'POST', headers: JSON_HEADERS, body: INITIALIZE });
      expect(answer).toMatchObject({ status: 400 });
    }
  });

  it('gives the tools as OpenAI and Anthropic take them', async ({ daemon }) => {
    const get = (query: string) => ask(new URL(`/v1/tools${query}`, daemon.url));
    const run = { description: expect.any(String) as string };
    const schema = { type: 'object', required: ['command'] };
    expect((await get('')).body).toMatchObject({
      openai: expect.arrayContaining([expect.objectContaining({ type: 'function' })]) as unknown,
      anthropic: expect.arrayContaining([expect.objectContaining({ name: 'open_session' })]) as unknown,
    });
    const first = async (format: string) => {
      const { tools } = (await get(`?format=${format}`)).body as { tools: unknown[] };
      return tools[0];
    };
    expect(await first('openai')).toMatchObject({
      type: 'function',
      function: { ...run, name: 'run_command', parameters: schema },
    });
    expect(await first('anthropic')).toMatchObject({ ...run, name: 'run_command', input_schema: schema });
    const core = (await get('?format=openai&tools=run')).body as { tools: unknown[] };
    expect(core.tools).toHaveLength(1);
    expect(await get('?tools=some')).toMatchObject({ status: 400, body: { error: { code: 'INVALID_REQUEST' } } });
    expect(await get('?format=xml')).toMatchObject({ status: 400, body: { error: { code: 'INVALID_REQUEST' } } });
    const { stdout } = await runCli(['tools', '--format', 'anthropic']);
    expect({ tools: JSON.parse(stdout) as unknown }).toEqual((await get('?format=anthropic')).body);
  });
});
