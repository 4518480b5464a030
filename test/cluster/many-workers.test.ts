import { copyFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { TestDaemon } from '../support/daemon.js';
import { eventually } from '../support/measure.js';
import { WireClient } from '../support/wire.js';
import { TestCluster, type TestWorker } from './harness/cluster.js';

let cluster: TestCluster;
let gateway: TestDaemon;
let workers: TestWorker[];

const nodeOf = (id: string) => /_(worker-\d)-/.exec(id)?.[1];

beforeAll(async () => {
  cluster = new TestCluster();
  ({ gateway, workers } = await cluster.startWith('worker-1', 'worker-2'));
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
});

describe('sessions', () => {
  it('are opened where there is most room, and listed together', async () => {
    await using client = await cluster.connect(gateway);
    const ids = await Promise.all(Array.from({ length: 10 }, () => client.openSession()));
    const counts = ['worker-1', 'worker-2'].map((node) => ids.filter((id) => nodeOf(id) === node).length);
    expect(Math.abs(counts[0]! - counts[1]!)).toBeLessThanOrEqual(1);
    const { sessions } = await client.request('list_sessions');
    expect(sessions.map(({ session_id: id }) => id).sort()).toEqual([...ids].sort());
    await Promise.all(ids.map((id) => client.request('close_session', { session_id: id })));
  });

  it('are opened on the node, or on one with the labels, that the client names', async () => {
    await using client = await cluster.connect(gateway);
    for (const node of ['worker-1', 'worker-2', 'worker-1'])
      expect(nodeOf(await client.openSession({ placement: { node } }))).toBe(node);
    await cluster.register(gateway, workers[1]!, { sandbox: 'a1' });
    expect(client.all('session_closed'), 'what ran there').toEqual([]);
    expect(nodeOf(await client.openSession({ placement: { labels: { sandbox: 'a1' } } }))).toBe('worker-2');
    const none = await client.request('open_session', { placement: { labels: { sandbox: 'b2' } } });
    expect(none.error?.code).toBe('NO_CAPACITY');
  });

  it('are not opened on a worker that is drained, whose sessions go on', async () => {
    await using client = await cluster.connect(gateway);
    await using admin = await cluster.connect(gateway, 'admin');
    const kept = await client.openSession({ placement: { node: 'worker-1' } });
    const drained = await admin.request('drain_node', { node: 'worker-1', drain: true });
    expect(drained.node).toMatchObject({ state: 'draining' });
    const ids = await Promise.all([client.openSession(), client.openSession()]);
    expect(ids.map(nodeOf)).toEqual(['worker-2', 'worker-2']);
    expect((await client.request('open_session', { placement: { node: 'worker-1' } })).error?.code).toBe(
      'NODE_DRAINING',
    );
    expect(await client.run('echo on', kept)).toMatchObject({ stdout: 'on\n' });
    expect((await fetch(`${workers[0]!.daemon.url}/readyz`)).status).toBe(503);
    await admin.request('drain_node', { node: 'worker-1', drain: false });
    expect(nodeOf(await client.openSession({ placement: { node: 'worker-1' } }))).toBe('worker-1');
  });
});

describe('commands without a session', () => {
  it('with the same id over two gateways at once run once', async () => {
    const second = await cluster.startGateway('gate-2');
    for (const worker of workers) await cluster.register(second, worker);
    // The same client at both: its token is copied.
    const { token, secret } = gateway.tokens.create({ name: 'both', role: 'agent', lifeMs: undefined });
    copyFileSync(join(gateway.tokens.directory, `${token.id}.json`), join(second.tokens.directory, `${token.id}.json`));
    const connect = ({ url }: TestDaemon) => WireClient.connect(url, ['websocket'], { token: secret });
    await using one = await connect(gateway);
    await using other = await eventually(() => connect(second));
    for (let i = 0; i < 5; i += 1) {
      const command_id = `once-${i}`;
      const answers = await Promise.all([
        one.run('echo $RANDOM$RANDOM$RANDOM', undefined, { command_id }),
        other.run('echo $RANDOM$RANDOM$RANDOM', undefined, { command_id }),
      ]);
      expect(answers[0].stdout).toBe(answers[1].stdout);
    }
  });

  it('are found by ids of their own, on whichever node they ran', async () => {
    await using client = await cluster.connect(gateway);
    for (let i = 0; i < 6; i += 1) {
      const command_id = `found-${i}`;
      const { stdout } = await client.run(`echo ${i} $$`, undefined, { command_id });
      expect(await client.request('wait_command', { command_id })).toMatchObject({ stdout });
      expect((await client.request('read_output', { command_id })).size).toBe(stdout.length);
    }
    const { commands, next } = await client.request('list_commands', { limit: 2 });
    expect(commands).toHaveLength(2);
    const older = await client.request('list_commands', { limit: 2, before: next });
    const seen = new Set([...commands, ...older.commands].map(({ command_id: id }) => id));
    expect(seen.size).toBe(commands.length + older.commands.length);
  });
});

describe('requests about one node', () => {
  it('need its name where several could be meant', async () => {
    await using client = await cluster.connect(gateway);
    expect((await client.request('read_file', { path: 'x' })).error).toMatchObject({
      code: 'INVALID_REQUEST',
      details: { nodes: ['worker-1', 'worker-2'] },
    });
    await client.request('write_file', { path: 'x', data: 'two', node: 'worker-2' });
    expect(await client.request('read_file', { path: 'x', node: 'worker-2', encoding: 'utf8' })).toMatchObject({
      data: 'two',
    });
    expect((await client.request('read_file', { path: 'x', node: 'worker-1' })).error?.code).toBe('FILE_NOT_FOUND');
    expect(await client.request('shell_metadata', { node: 'worker-2' })).toMatchObject({ node: 'worker-2' });
  });
});

describe('lists', () => {
  it('say which nodes have not answered', async () => {
    const third = await cluster.startWorker('worker-3');
    await cluster.register(gateway, third);
    await using client = await cluster.connect(gateway);
    third.daemon.signal('SIGKILL');
    await eventually(async () => {
      const { unreachable } = await client.request('list_sessions');
      expect(unreachable).toEqual([{ node: 'worker-3', code: 'NODE_UNREACHABLE' }]);
    });
    await using admin = await cluster.connect(gateway, 'admin');
    await admin.request('remove_node', { node: 'worker-3' });
    expect((await client.request('list_sessions')).unreachable).toBeUndefined();
  });
});
