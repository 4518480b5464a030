import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';

import { describe, expect } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { daemonTest } from '../../support/daemon-test.js';
import { ask } from '../../support/http.js';
import { MCP_WAYS, McpClient } from '../../support/network/mcp.js';
import { eventually } from '../../support/measure.js';
import { descendantsOf, isRunning } from '../../support/processes.js';
import { INITIALIZE, JSON_HEADERS } from './support.js';

const HTTP_WAYS = MCP_WAYS.filter(([, { over }]) => over === 'http');

const it = daemonTest();
const itWithRates = daemonTest({ settings: { auth: { requests_per_second: 2 } } });
const itWithTokens = daemonTest({ settings: { auth: { mode: 'token' } } });

describe('sessions of MCP', () => {
  /** Begins one by hand; gives its id. */
  const begin = (url: string, token: string) =>
    new Promise<string>((resolve, reject) => {
      const headers = { ...JSON_HEADERS, authorization: `Bearer ${token}` };
      const asking = request(new URL('/mcp', url), { method: 'POST', headers, agent: false }, (response) => {
        response.resume();
        response.on('end', () => {
          resolve(String(response.headers['mcp-session-id']));
        });
      });
      asking.on('error', reject).end(INITIALIZE);
    });
  const list = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
  const use = (url: string, id: string, token: string) =>
    ask(new URL('/mcp', url), {
      method: 'POST',
      headers: { ...JSON_HEADERS, authorization: `Bearer ${token}`, 'mcp-session-id': id },
      body: list,
    });

  itWithTokens('belong to a token, and end with it', async ({ daemon }) => {
    const [mine, theirs] = [daemon.createToken('agent', 'mine'), daemon.createToken('agent', 'theirs')];
    const id = await begin(daemon.url, mine);
    expect(await use(daemon.url, id, mine)).toMatchObject({ status: 200 });
    expect(await use(daemon.url, id, theirs)).toMatchObject({ status: 404 });
    expect(await use(daemon.url, 'nothing', mine)).toMatchObject({ status: 404 });
    daemon.tokens.revoke('mine');
    await eventually(async () => {
      expect(await use(daemon.url, id, mine)).toMatchObject({ status: 401 });
    });
  });

  itWithTokens('are bounded for each token, and begun for fitting headers alone', async ({ daemon }) => {
    const [busy, other] = [daemon.createToken('viewer', 'busy'), daemon.createToken('agent', 'other')];
    const theirs = await begin(daemon.url, other);
    const initialize = (headers: Record<string, string>) =>
      ask(new URL('/mcp', daemon.url), { method: 'POST', headers, body: INITIALIZE });
    const authorization = `Bearer ${busy}`;
    for (let count = 0; count < 40; count += 1) {
      const refused = await initialize({ ...JSON_HEADERS, accept: 'application/json', authorization });
      expect(refused).toMatchObject({ status: 406 });
    }
    const ids: string[] = [];
    for (let count = 0; count < 33; count += 1) ids.push(await begin(daemon.url, busy));
    expect(await use(daemon.url, ids[0]!, busy)).toMatchObject({ status: 404 });
    for (const id of [ids[1]!, ids[32]!]) expect(await use(daemon.url, id, busy)).toMatchObject({ status: 200 });
    expect(await use(daemon.url, theirs, other)).toMatchObject({ status: 200 });
    await begin(daemon.url, other);
  });

  itWithRates('count as requests', async ({ daemon }) => {
    const headers = { ...JSON_HEADERS, authorization: `Bearer ${daemon.createToken('viewer', 'fast')}` };
    const begun = Array.from({ length: 20 }, () =>
      ask(new URL('/mcp', daemon.url), { method: 'POST', headers, body: INITIALIZE }),
    );
    expect((await Promise.all(begun)).map(({ status }) => status)).toContain(429);
  });

  it('keep no connection for calls that were cancelled', async ({ daemon }) => {
    const headers = { ...JSON_HEADERS, 'mcp-session-id': await begin(daemon.url, 'local') };
    const call = { jsonrpc: '2.0', id: 'slow', method: 'tools/call' };
    const params = { name: 'run_command', arguments: { command: 'echo $$ > pid; exec sleep 300' } };
    const post = (message: object) =>
      fetch(new URL('/mcp', daemon.url), { method: 'POST', headers, body: JSON.stringify(message) });
    const answer = await post({ ...call, params });
    const pid = () => Number(readFileSync(join(daemon.workspace, 'pid'), 'utf8'));
    await eventually(() => {
      expect(isRunning(pid())).toBe(true);
    });
    await post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'slow' } });
    expect(await answer.text()).toBe('');
    await eventually(() => {
      expect(isRunning(pid())).toBe(false);
    });
  });

  it('whose client is gone for ten seconds end its commands without a session, and those alone', async ({ daemon }) => {
    const client = await McpClient.connect(daemon.url, { over: 'http', mode: 'legacy' });
    const { session_id } = (await client.call('open_session')).answer;
    const command = (name: string) => `echo $$ > ${name}.new; mv ${name}.new ${name}; exec sleep 300`;
    const running = [
      client.call('run_command', { command: command('alone'), timeout_ms: 200_000 }),
      client.call('execute_command', { session_id, command: command('held') }),
    ].map((call) => call.catch(() => 'broken'));
    const pid = (name: string) => Number(readFileSync(join(daemon.workspace, name), 'utf8'));
    await eventually(() => {
      expect([pid('alone'), pid('held')].map(isRunning)).toEqual([true, true]);
    });
    const goneAt = performance.now();
    // As an agent does that is interrupted: it says nothing, and its connections end.
    await client[Symbol.asyncDispose]();
    await eventually(() => {
      expect(isRunning(pid('alone'))).toBe(false);
    });
    expect(performance.now() - goneAt).toBeGreaterThan(9000);
    expect(isRunning(pid('held'))).toBe(true);
    await Promise.all(running);
  });

  itWithTokens.for(HTTP_WAYS)(
    'end with their token, and so do the calls that are under way: %s',
    async ([title, way], { daemon }) => {
      const name = title.replaceAll(/\W+/g, '-');
      const token = daemon.createToken('agent', name);
      await using client = await McpClient.connect(daemon.url, way, token);
      const running = client
        .call('run_command', { command: `echo $$ > '${name}'; exec sleep 300` })
        .catch(() => 'failed');
      const pid = () => Number(readFileSync(join(daemon.workspace, name), 'utf8'));
      await eventually(() => {
        expect(isRunning(pid())).toBe(true);
      });
      daemon.tokens.revoke(name);
      await eventually(() => {
        expect(isRunning(pid())).toBe(false);
      });
      // With a session the client tries to get its answer by another connection, and waits for it.
      if (way.mode === 'auto') expect(await running).toBe('failed');
    },
  );

  it.each(HTTP_WAYS)('do not hold up the end of the daemon: %s', async (_, way) => {
    const daemon = await TestDaemon.startCold();
    try {
      await using client = await McpClient.connect(daemon.url, way);
      const running = client.call('run_command', { command: 'exec sleep 300' }).catch(() => undefined);
      await eventually(() => {
        expect(descendantsOf(daemon.pid).map(({ command }) => command)).toContain('sleep 300');
      });
      expect(await daemon.stop()).toBe(0);
      await running;
    } finally {
      await daemon[Symbol.asyncDispose]();
    }
  });
});
