import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { NodeInfo } from '../../src/core/protocol/requests/nodes.js';
import type { TestDaemon } from '../support/daemon.js';
import { WireClient } from '../support/wire.js';
import { TestCluster, type TestWorker } from './harness/cluster.js';

let cluster: TestCluster;
let gateways: TestDaemon[];
let worker: TestWorker;

beforeAll(async () => {
  cluster = new TestCluster();
  worker = await cluster.startWorker('worker-1', {
    confirmation: { mode: 'operator', checkpoint: false, classes: { destructive: 'confirm' } },
  });
  gateways = [await cluster.startGateway('gate-1'), await cluster.startGateway('gate-2')];
  for (const gateway of gateways) await cluster.register(gateway, worker);
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
});

describe('an operator at one gateway', () => {
  it.each(['approve', 'reject'] as const)('can %s what a client of another gateway has asked for', async (decision) => {
    await using operator = await cluster.connect(gateways[1]!, 'operator');
    await using agent = await cluster.connect(gateways[0]!);
    const id = await agent.openSession();
    await agent.run(`mkdir -p ${decision}`, id);
    const running = agent.run(`rm -rf ${decision}`, id);
    const asked = await operator.event('confirmation_required', ({ session_id }) => session_id === id);
    expect(asked.confirmation_id).toMatch(/^confirmation_worker-1-[a-z0-9]{7}\./);
    const { confirmations } = await operator.request('list_confirmations');
    expect(confirmations.map(({ confirmation_id }) => confirmation_id)).toContain(asked.confirmation_id);
    const { confirmation_id, command_sha256 } = asked;
    await operator.request('confirm_command', { confirmation_id, command_sha256, decision });
    const answer = await running;
    if (decision === 'approve') expect(answer).toMatchObject({ status: 'completed', exit_code: 0 });
    else expect(answer.error?.code).toBe('COMMAND_DENIED');
    await agent.event('confirmation_resolved', (event) => event.confirmation_id === confirmation_id);
  });

  it('does not decide for itself, nor does a program without a token', async () => {
    await using operator = await cluster.connect(gateways[0]!, 'operator');
    await using local = await WireClient.connect(gateways[1]!.url);
    const id = await operator.openSession();
    const begun = await operator.run('rm -rf own', id, { background: true });
    const { confirmation_id = '', command_sha256 } = begun;
    const decision = { confirmation_id, command_sha256, decision: 'approve' } as const;
    expect((await operator.request('confirm_command', decision)).error?.code).toBe('FORBIDDEN');
    expect((await local.request('confirm_command', decision)).error?.code).toMatch(/FORBIDDEN|CONFIRMATION_NOT_FOUND/);
  });
});

describe('a subscription', () => {
  it('begins complete, and has what happens on the worker', async () => {
    await using operator = await cluster.connect(gateways[0]!, 'operator');
    await using agent = await cluster.connect(gateways[1]!);
    const answer = await operator.request('subscribe', { topics: ['sessions', 'commands'], interval_ms: 250 });
    expect([...answer.topics].sort()).toEqual(['commands', 'sessions']);
    const [first] = operator.all('sessions_changed');
    expect(first).toMatchObject({ sessions: [], complete: true });
    const id = await agent.openSession();
    await operator.event('sessions_changed', ({ sessions }) => sessions.some(({ session_id }) => session_id === id));
    await agent.request('close_session', { session_id: id });
    await operator.event('sessions_changed', ({ closed }) => closed.some(({ session_id }) => session_id === id));
    expect(operator.all('sessions_changed').filter(({ complete }) => complete === true)).toHaveLength(1);
  });
});

describe('a subscription to the nodes', () => {
  const stateOf = (client: WireClient, node: string) =>
    client
      .all('nodes_changed')
      .flatMap(({ nodes }) => nodes)
      .findLast((info) => info.node === node);
  /** Waits until the client was told of a node as it should be. */
  const told = (client: WireClient, node: string, expected: Partial<NodeInfo>) =>
    client.until(() => {
      const info = stateOf(client, node);
      const isAsExpected = Object.entries(expected).every(([key, value]) => info?.[key as keyof NodeInfo] === value);
      return info && isAsExpected ? info : undefined;
    });

  it('begins with all of them, and has what they carry, their state, their loss and their removal', async () => {
    await using admin = await cluster.connect(gateways[0]!, 'admin');
    await using agent = await cluster.connect(gateways[0]!);
    const request = { topics: ['nodes'], interval_ms: 250 } as const;
    const subscription = { topics: [...request.topics], interval_ms: request.interval_ms };
    expect((await agent.request('subscribe', subscription)).error).toMatchObject({
      code: 'FORBIDDEN',
      details: { topic: 'nodes', role: 'agent', needs: ['operator', 'admin'] },
    });
    expect(await admin.request('subscribe', subscription)).toEqual(subscription);
    const first = await admin.event('nodes_changed');
    expect(first).toMatchObject({ removed: [], complete: true });
    expect(first.nodes.map(({ node }) => node).sort()).toEqual(['gate-1', 'worker-1']);

    const extra = await cluster.startWorker('worker-2');
    await cluster.register(gateways[0]!, extra);
    await told(admin, 'worker-2', { state: 'live', sessions: 0 });
    await agent.openSession({ placement: { node: 'worker-2' } });
    await told(admin, 'worker-2', { sessions: 1 });
    await admin.request('drain_node', { node: 'worker-2', drain: true });
    await told(admin, 'worker-2', { state: 'draining' });
    process.kill(extra.daemon.pid, 'SIGKILL');
    await told(admin, 'worker-2', { state: 'lost' });
    await admin.request('remove_node', { node: 'worker-2' });
    await admin.event('nodes_changed', ({ removed }) => removed.includes('worker-2'));

    const later = admin.all('nodes_changed').slice(1);
    expect(later.filter(({ complete }) => complete !== undefined)).toEqual([]);
    // What has not changed is not sent again.
    expect(later.flatMap(({ nodes }) => nodes).filter(({ node }) => node === 'gate-1')).toEqual([]);
  });
});

describe('requests over HTTP to a gateway', () => {
  it('are answered by the worker, with their events', async () => {
    const token = gateways[0]!.createToken('agent', 'http');
    const ask = async (name: string, body: object, accept = 'application/json') => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept };
      return (
        await fetch(`${gateways[0]!.url}/v1/requests/${name}`, { method: 'POST', headers, body: JSON.stringify(body) })
      ).text();
    };
    expect(JSON.parse(await ask('execute_command', { command: 'echo over http' }))).toMatchObject({
      stdout: 'over http\n',
    });
    const streamed = await ask('execute_command', { command: 'echo streamed' }, 'text/event-stream');
    expect(streamed).toContain('event: command_output');
    expect(streamed).toContain('event: execute_command_result');
  });
});
