import { readFileSync, rmSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { TestDaemon } from '../support/daemon.js';
import { MCP_WAYS, McpClient } from '../support/network/mcp.js';
import { eventually } from '../support/measure.js';
import { isRunning } from '../support/processes.js';
import { TestCluster } from './harness/cluster.js';

let cluster: TestCluster;
let gateway: TestDaemon;

beforeAll(async () => {
  cluster = new TestCluster();
  ({ gateway } = await cluster.startWith('worker-1', 'worker-2'));
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
});

describe.each(MCP_WAYS)('the tools of a gateway over %s', (_, way) => {
  it('run a command on a worker, and continue in a session there', async () => {
    const token = gateway.createToken('agent', crypto.randomUUID());
    await using mcp = await McpClient.connect(gateway.url, way, token);
    const { answer, isError } = await mcp.call('run_command', { command: 'echo here' });
    expect({ answer, isError }).toMatchObject({ isError: false, answer: { stdout: 'here\n', exit_code: 0 } });
    const { session_id } = (await mcp.call('open_session')).answer;
    expect(session_id).toMatch(/^session_worker-\d-[a-z0-9]{7}\./);
    await mcp.call('execute_command', { session_id, command: 'X=kept' });
    expect((await mcp.call('execute_command', { session_id, command: 'echo $X' })).answer).toMatchObject({
      stdout: 'kept\n',
    });
    await mcp.call('close_session', { session_id });
    const { answer: error, isError: hasFailed } = await mcp.call('execute_command', { session_id, command: 'true' });
    expect(hasFailed).toBe(true);
    expect(JSON.stringify(error)).toContain('SESSION_NOT_FOUND');
  });

  it('end the command on the worker when the call is cancelled', async () => {
    const token = gateway.createToken('agent', crypto.randomUUID());
    await using mcp = await McpClient.connect(gateway.url, way, token);
    const file = `/tmp/shell-adapter-${crypto.randomUUID()}`;
    const abort = new AbortController();
    const command = `echo $$ > ${file}.new; mv ${file}.new ${file}; exec sleep 300`;
    const call = mcp.call('run_command', { command, timeout_ms: 200_000 }, { signal: abort.signal });
    const pid = await eventually(() => Number(readFileSync(file, 'utf8')));
    rmSync(file);
    abort.abort();
    await expect(call).rejects.toThrow();
    await eventually(() => {
      expect(isRunning(pid)).toBe(false);
    });
  });
});
