import { randomBytes } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { connect } from '../../src/client/index.js';
import { Collector } from '../support/network/collector.js';
import { ASKING, type DaemonSettings, TestDaemon } from '../support/daemon.js';
import { MCP_WAYS, McpClient } from '../support/network/mcp.js';
import { askRest } from '../support/network/rest.js';
import { WireClient } from '../support/wire.js';

/** Sends spans soon: the default is 5 seconds. Source: the SDK's environment variables. */
const SOON = { OTEL_BSP_SCHEDULE_DELAY: '20' };
const SECRET = 'sesame-sesame-open';

let collector: Collector;
let daemon: TestDaemon;
let client: WireClient;

const startDaemon = (traces: object, settings: DaemonSettings = {}) =>
  TestDaemon.startCold({
    env: SOON,
    settings: { ...settings, traces: { enabled: true, endpoint: collector.endpoint, ...traces } },
  });

beforeAll(async () => {
  collector = await Collector.start();
  const llm = { shell_providers: { parrot: { command: 'cat', args: [] } } };
  const settings = { secrets: { values: [SECRET] }, confirmation: ASKING, llm };
  daemon = await startDaemon({ include_command: true, service_name: 'test-daemon' }, settings);
  client = await WireClient.connect(daemon.url);
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
  await collector[Symbol.asyncDispose]();
});

/** A trace of a client: what it sends, and the ids in it. */
function newTrace(flags = '01') {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` };
}

const spanOf = (traceId: string, name: string) =>
  collector.span((span) => span.traceId === traceId && span.name === name);

const ask = (name: string, payload: object) =>
  client.socket.emitWithAck(name, payload) as Promise<Readonly<Record<string, unknown>>>;

describe('a command', () => {
  it.each(['session', 'one_shot'] as const)(
    'of the kind %s is below its request, which is below the client',
    async (kind) => {
      const session_id = kind === 'session' ? await client.openSession() : undefined;
      const { traceId, spanId, traceparent } = newTrace();
      const answer = await ask('execute_command', { traceparent, session_id, command: 'echo $TRACEPARENT; exit 3' });
      const request = await spanOf(traceId, 'execute_command');
      const command = await spanOf(traceId, 'command');
      expect(request).toMatchObject({
        parentSpanId: spanId,
        isError: false,
        attributes: { 'shell_adapter.request': 'execute_command', 'shell_adapter.role': 'admin' },
        resource: { 'service.name': 'test-daemon' },
      });
      expect(command).toMatchObject({
        parentSpanId: request.spanId,
        isError: false,
        attributes: {
          'shell_adapter.kind': kind,
          'shell_adapter.command_id': answer['command_id'],
          'shell_adapter.command': 'echo $TRACEPARENT; exit 3',
          'shell_adapter.status': 'completed',
          'process.exit.code': 3,
        },
      });
      expect(answer['stdout']).toBe(`00-${traceId}-${command.spanId}-01\n`);
    },
  );

  it('of a session has the variable for itself, and a value of the client goes first', async () => {
    const session_id = await client.openSession();
    const first = await client.run('echo $TRACEPARENT', session_id);
    const second = await client.run('echo $TRACEPARENT', session_id);
    expect(second.stdout).not.toBe(first.stdout);
    const own = await client.run('echo $TRACEPARENT', session_id, { env: { TRACEPARENT: 'own' } });
    expect(own.stdout).toBe('own\n');
  });

  it('that is ended is an error, and has no secret', async () => {
    const { traceId, traceparent } = newTrace();
    await ask('execute_command', { traceparent, command: `sleep 60; echo ${SECRET}`, timeout_ms: 100 });
    expect(await spanOf(traceId, 'command')).toMatchObject({
      isError: true,
      attributes: { 'error.type': 'timed_out', 'shell_adapter.command': 'sleep 60; echo ***' },
    });
  });

  it('that was confirmed is below the request that asked for it', async () => {
    const { traceId, traceparent } = newTrace();
    const asked = await ask('execute_command', { traceparent, command: 'rm -f nothing-here' });
    const { confirmation_id, command_sha256 } = asked;
    await ask('confirm_command', { confirmation_id, command_sha256, decision: 'approve', justification: 'a test' });
    const request = await spanOf(traceId, 'execute_command');
    expect((await spanOf(traceId, 'command')).parentSpanId).toBe(request.spanId);
  });
});

describe('the trace of a client', () => {
  it('is sent by the client', async () => {
    const { traceId, spanId, traceparent } = newTrace();
    await using own = await connect(daemon.url, { traceparent: () => traceparent });
    await (await own.openSession()).execute('true');
    for (const name of ['open_session', 'execute_command'])
      expect((await spanOf(traceId, name)).parentSpanId).toBe(spanId);
  });

  it('is taken from the headers of REST, with the error of the request', async () => {
    const { traceId, spanId, traceparent } = newTrace();
    const payload = { session_id: 'session_that_is_not_there' };
    await askRest(daemon.url, 'get_session', payload, { headers: { traceparent } });
    expect(await spanOf(traceId, 'get_session')).toMatchObject({
      parentSpanId: spanId,
      isError: true,
      attributes: { 'error.type': 'SESSION_NOT_FOUND', 'shell_adapter.session_id': 'session_that_is_not_there' },
    });
  });

  it('is taken from the headers of files', async () => {
    const { traceId, spanId, traceparent } = newTrace();
    await fetch(new URL('/v1/files/nothing', daemon.url), { headers: { traceparent } });
    expect((await spanOf(traceId, 'read_file')).parentSpanId).toBe(spanId);
  });

  it.each(MCP_WAYS.filter(([, { over }]) => over === 'http'))('is taken from _meta of MCP over %s', async (_, way) => {
    const { traceId, spanId, traceparent } = newTrace();
    await using mcp = await McpClient.connect(daemon.url, way);
    await mcp.client.callTool({ name: 'execute_command', arguments: { command: 'true' }, _meta: { traceparent } });
    expect((await spanOf(traceId, 'execute_command')).parentSpanId).toBe(spanId);
  });

  it('is taken from the headers of the OpenAI endpoint', async () => {
    const { traceId, spanId, traceparent } = newTrace();
    const response = await fetch(new URL('/v1/chat/completions', daemon.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent },
      body: JSON.stringify({ model: 'parrot', messages: [{ role: 'user', content: 'hello' }] }),
    });
    expect(response.status, await response.text()).toBe(200);
    expect((await spanOf(traceId, 'llm_call')).parentSpanId).toBe(spanId);
  });

  it('is ignored when it is invalid', async () => {
    expect(await ask('execute_command', { traceparent: { odd: [] }, command: 'echo hi' })).toMatchObject({
      stdout: 'hi\n',
    });
    expect(await ask('execute_command', { traceparent: 'odd', command: 'echo hi' })).toMatchObject({ stdout: 'hi\n' });
  });

  it('that is not recorded goes on, and nothing is sent', async () => {
    const { traceId, traceparent } = newTrace('00');
    const answer = await ask('execute_command', { traceparent, command: 'echo $TRACEPARENT' });
    expect(answer['stdout']).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00\n$`));
    const { traceId: later, traceparent: second } = newTrace();
    await ask('list_sessions', { traceparent: second });
    await spanOf(later, 'list_sessions');
    expect(collector.spans.filter((span) => span.traceId === traceId)).toEqual([]);
  });
});

describe('a daemon', () => {
  it('sends its last spans when it ends, without the text of commands unless that is configured', async () => {
    const own = await TestDaemon.startCold({ settings: { traces: { enabled: true, endpoint: collector.endpoint } } });
    const { traceId, traceparent } = newTrace();
    await using other = await WireClient.connect(own.url);
    await other.socket.emitWithAck('execute_command', { traceparent, command: 'true' });
    await own[Symbol.asyncDispose]();
    const { attributes } = await spanOf(traceId, 'command');
    expect(attributes).not.toHaveProperty('shell_adapter.command');
  });

  it('goes on, says so, and ends when the collector does not answer', async () => {
    const own = await TestDaemon.startCold({
      env: { ...SOON, OTEL_EXPORTER_OTLP_TIMEOUT: '50' },
      settings: { traces: { enabled: true, endpoint: 'http://127.0.0.1:9/v1/traces' } },
    });
    await using other = await WireClient.connect(own.url);
    expect(await other.run('echo hi')).toMatchObject({ stdout: 'hi\n' });
    await expect.poll(() => own.output, { timeout: 10_000 }).toContain('spans could not be sent');
    expect(await own.stop()).toBe(0);
    await own[Symbol.asyncDispose]();
  });

  it('without traces takes the fields, and gives commands no variable', async () => {
    await using own = await TestDaemon.startCold();
    await using other = await WireClient.connect(own.url);
    const payload = { traceparent: newTrace().traceparent, request_id: 7, command: 'echo "[$TRACEPARENT]"' };
    expect(await other.socket.emitWithAck('execute_command', payload)).toMatchObject({ stdout: '[]\n', request_id: 7 });
  });
});
