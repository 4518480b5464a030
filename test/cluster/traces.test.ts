import { randomBytes } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { Collector } from '../support/network/collector.js';
import type { TestDaemon } from '../support/daemon.js';
import { askRest } from '../support/network/rest.js';
import type { WireClient } from '../support/wire.js';
import { TestCluster } from './harness/cluster.js';

/** Sends spans soon: the default is 5 seconds. Source: the SDK's environment variables. */
const SOON = { env: { OTEL_BSP_SCHEDULE_DELAY: '20' } };

let collector: Collector;
let cluster: TestCluster;
let gateway: TestDaemon;
let client: WireClient;

const settingsOf = (service_name: string) => ({
  traces: { enabled: true, endpoint: collector.endpoint, service_name },
});

beforeAll(async () => {
  collector = await Collector.start();
  cluster = new TestCluster();
  gateway = await cluster.startGateway('gate', {}, { settings: settingsOf('gate'), ...SOON });
  for (const name of ['worker-1', 'worker-2'])
    await cluster.register(gateway, await cluster.startWorker(name, settingsOf(name), SOON));
  client = await cluster.connect(gateway);
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
  await collector[Symbol.asyncDispose]();
});

/** A trace of a client: what it sends, and the ids in it. */
function newTrace() {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-01` };
}

const spanOf = (traceId: string, name: string, service: string, node?: string) =>
  collector.span(
    (span) =>
      span.traceId === traceId &&
      span.name === name &&
      span.resource['service.name'] === service &&
      (node === undefined || span.attributes['shell_adapter.node'] === node),
  );

const ask = (name: string, payload: object) =>
  client.socket.emitWithAck(name, payload) as Promise<Readonly<Record<string, unknown>>>;

describe('the trace of a client of a gateway', () => {
  it('goes on at the worker, below the span of the hop', async () => {
    const session_id = await client.openSession({ placement: { node: 'worker-1' } });
    const { traceId, spanId, traceparent } = newTrace();
    const tracestate = 'vendor=some';
    const command = 'echo $TRACEPARENT $TRACESTATE';
    const answer = await ask('execute_command', { traceparent, tracestate, session_id, command });
    const received = await spanOf(traceId, 'execute_command', 'gate');
    const hop = await spanOf(traceId, 'relay', 'gate');
    const request = await spanOf(traceId, 'execute_command', 'worker-1');
    const own = await spanOf(traceId, 'command', 'worker-1');
    expect(received.parentSpanId).toBe(spanId);
    expect(hop).toMatchObject({
      parentSpanId: received.spanId,
      isError: false,
      attributes: { 'shell_adapter.request': 'execute_command', 'shell_adapter.node': 'worker-1' },
    });
    expect(request.parentSpanId).toBe(hop.spanId);
    expect(own.parentSpanId).toBe(request.spanId);
    expect(answer['stdout']).toBe(`00-${traceId}-${own.spanId}-01 vendor=some\n`);
  });

  it('goes on at all workers that are asked', async () => {
    const { traceId, traceparent } = newTrace();
    await ask('list_sessions', { traceparent });
    const received = await spanOf(traceId, 'list_sessions', 'gate');
    for (const node of ['worker-1', 'worker-2']) {
      const hop = await spanOf(traceId, 'relay', 'gate', node);
      expect(hop.parentSpanId).toBe(received.spanId);
      expect((await spanOf(traceId, 'list_sessions', node)).parentSpanId).toBe(hop.spanId);
    }
  });

  it('is taken from headers, and has the error of the worker at each hop', async () => {
    const session_id = await client.openSession({ placement: { node: 'worker-2' } });
    await client.request('close_session', { session_id });
    const { traceId, traceparent } = newTrace();
    const headers = { traceparent, authorization: `Bearer ${gateway.createToken('agent', 'headers')}` };
    await askRest(gateway.url, 'get_session', { session_id }, { headers });
    const spans = [
      await spanOf(traceId, 'get_session', 'gate'),
      await spanOf(traceId, 'relay', 'gate'),
      await spanOf(traceId, 'get_session', 'worker-2'),
    ];
    for (const span of spans)
      expect(span).toMatchObject({ isError: true, attributes: { 'error.type': 'SESSION_NOT_FOUND' } });
  });
});

describe('a gateway without traces', () => {
  it('passes the trace of the client on to the worker', async () => {
    const other = await cluster.startGateway('gate-2');
    const worker = await cluster.startWorker('worker-3', settingsOf('worker-3'), SOON);
    await cluster.register(other, worker);
    await using own = await cluster.connect(other);
    const { traceId, spanId, traceparent } = newTrace();
    await own.socket.emitWithAck('execute_command', { traceparent, command: 'true' });
    expect((await spanOf(traceId, 'execute_command', 'worker-3')).parentSpanId).toBe(spanId);
  });
});
