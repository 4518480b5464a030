import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { runCli } from '../e2e/cli/support.js';
import { askRest } from '../support/network/rest.js';
import type { TestDaemon } from '../support/daemon.js';
import { eventually } from '../support/measure.js';
import type { WireClient } from '../support/wire.js';
import type { TestCluster, TestWorker } from './harness/cluster.js';
import { useCluster } from './harness/use-cluster.js';

let cluster: TestCluster;
let gateway: TestDaemon;
let worker: TestWorker;
let other: TestWorker;
let client: WireClient;

useCluster(
  (started) => {
    ({ cluster, gateway, worker, client } = started);
    other = started.workers[1]!;
  },
  { workers: ['worker-1', 'worker-2'], role: 'admin' },
);

const at = (node: string) => ({ placement: { node } });
const stateOf = async (node: string) =>
  (await client.request('list_nodes')).nodes.find((one) => one.node === node)?.state;

describe('commands of several workers', () => {
  it('are listed the newest first, page by page', async () => {
    const sessions = [await client.openSession(at('worker-1')), await client.openSession(at('worker-2'))];
    const ids: (string | undefined)[] = [];
    for (const command of ['one', 'two', 'three', 'four', 'five']) {
      // Different milliseconds, by which nodes are compared.
      const { command_id: id } = await client.run(`: ${command}; sleep 0.01`, sessions[ids.length % 2]);
      ids.unshift(id);
    }
    const listed: string[] = [];
    let before: string | null = '';
    while (before !== null) {
      const page: Awaited<ReturnType<typeof list>> = await list(before === '' ? undefined : before);
      expect(page.commands.length).toBeLessThanOrEqual(2);
      listed.push(...page.commands.map(({ command_id: id }) => id));
      before = page.next;
    }
    expect(listed).toEqual(ids);
    for (const session_id of sessions) await client.request('close_session', { session_id });
  });
  const list = (before: string | undefined) =>
    client.request('list_commands', { limit: 2, ...(before !== undefined && { before }) });
});

describe('paths that a client watches on a worker', () => {
  it('are watched no longer when the link ends, which the client is told', async () => {
    mkdirSync(join(other.daemon.workspace, 'watched'));
    const { watch_id } = await client.request('watch_paths', { node: 'worker-2', paths: ['watched'] });
    await client.request('remove_node', { node: 'worker-2' });
    await client.event('watch_ended', (event) => event.watch_id === watch_id);
    await cluster.register(gateway, other);
    expect(client.all('watch_ended')).toHaveLength(1);
    expect((await client.request('unwatch_paths', { watch_id })).error?.code).toMatch(/NOT_FOUND|INVALID_REQUEST/);
  });
});

describe('a worker that is drained', () => {
  it('refuses new work itself, answers what it knows, and the gateway takes another one', async () => {
    const id = await client.openSession(at('worker-1'));
    await client.run('true', undefined, { command_id: 'known' });
    // At its own port: its gateway learns of it later, and asks it first.
    await askRest(worker.daemon.url, 'drain_node', { node: 'worker-1', drain: true });
    const opened = await Promise.all(Array.from({ length: 6 }, () => client.openSession()));
    expect(opened.map((session) => session.slice(0, 17))).toEqual(Array(6).fill('session_worker-2-'));
    expect((await client.request('open_session', at('worker-1'))).error).toMatchObject({
      code: 'NODE_DRAINING',
      details: { node: 'worker-1', retry_safe: true, maybe_executed: false },
    });
    expect(await client.run('echo on', id)).toMatchObject({ stdout: 'on\n' });
    expect(await client.run('true', undefined, { command_id: 'known' })).toMatchObject({ command_id: 'known' });
    await eventually(async () => {
      expect(await stateOf('worker-1')).toBe('draining');
    });
    expect((await client.request('drain_node', { node: 'worker-1', drain: false })).node.state).toBe('live');
    for (const session_id of [...opened, id]) await client.request('close_session', { session_id });
  });

  it('is asked at its own port for itself only, by programs of its user', async () => {
    const { url } = worker.daemon;
    const { body } = await askRest(url, 'list_nodes', {});
    expect(body['nodes']).toMatchObject([{ node: 'worker-1', role: 'worker' }]);
    expect((await askRest(url, 'drain_node', { node: 'worker-2', drain: true })).body.error?.code).toBe(
      'INVALID_REQUEST',
    );
    expect((await askRest(url, 'drain_node', { node: 'worker-1', drain: true }, { token: 'wrong' })).status).toBe(401);
    const drained = await runCli(['nodes', 'drain', '--self', '--wait'], { env: { SHELL_ADAPTER_URL: url } });
    expect(drained).toMatchObject({
      code: 0,
      stdout: 'worker-1 takes no new sessions; 0 sessions and commands there\n',
    });
    await client.request('drain_node', { node: 'worker-1', drain: false });
    const { code, stderr } = await runCli(['nodes', 'drain', '--self'], { env: { SHELL_ADAPTER_URL: gateway.url } });
    expect([code, stderr]).toEqual([1, expect.stringContaining('runs no sessions of a cluster')]);
  });

  it('ends after SIGTERM when its sessions have, which followers are told before', async () => {
    const id = await client.openSession(at('worker-2'));
    const running = client.run('read line; echo "$line"', id, { stream: true });
    await client.event('awaiting_input', (event) => event.session_id === id);
    await using bystander = await cluster.connect(gateway);
    other.daemon.signal('SIGTERM');
    const told = await client.event('server_shutdown', () => true);
    expect(told).toMatchObject({ node: 'worker-2', grace_ms: 300_000 });
    expect((await client.request('open_session', at('worker-2'))).error?.code).toBe('NODE_DRAINING');
    await client.request('send_input', { session_id: id, data: 'finished\n' });
    expect(await running).toMatchObject({ stdout: 'finished\n', exit_code: 0 });
    await client.request('close_session', { session_id: id });
    expect(await other.daemon.exited).toBe(0);
    expect(bystander.all('server_shutdown').filter(({ grace_ms: ms }) => ms === 300_000)).toEqual([]);
    // The gateway goes on.
    expect(await client.run('echo on')).toMatchObject({ stdout: 'on\n' });
  });

  it('ends at the second SIGTERM whatever runs', async () => {
    const id = await client.openSession(at('worker-1'));
    const running = client.run('sleep 60', id);
    worker.daemon.signal('SIGTERM');
    await eventually(async () => {
      expect(await stateOf('worker-1')).toBe('draining');
    });
    worker.daemon.signal('SIGTERM');
    expect(await running).toMatchObject({ killed_by: 'shutdown' });
    expect(await worker.daemon.exited).toBe(0);
    expect(await stateOf('worker-1')).not.toBe('live');
  });
});
