import { describe, expect } from 'vitest';

import type { TestDaemon } from '../support/daemon.js';
import { eventually } from '../support/measure.js';
import { readSamples } from '../support/network/prometheus.js';
import { sharedTest } from '../support/shared-test.js';
import { TestCluster } from './harness/cluster.js';

/** The metrics of a daemon's cluster, by their names without the prefix. */
const readCluster = async ({ url }: TestDaemon) =>
  readSamples(await (await fetch(`${url}/metrics`)).text(), 'shell_adapter_cluster_');

/** A gateway with two workers. */
const it = sharedTest(async () => {
  const cluster = new TestCluster({ drain_timeout: 0.1 });
  const started = await cluster.startWith('worker-1', 'worker-2');
  return { cluster, ...started, [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose]() };
});

describe('the metrics of a gateway', () => {
  it('count relayed requests by their outcome, with their time', async ({ shared: { cluster, gateway } }) => {
    await using client = await cluster.connect(gateway);
    const before = await readCluster(gateway);
    expect(before.get('relayed_requests_total{outcome="ok"}')).toBe(0);
    const id = await client.openSession();
    await client.run('sleep 0.2', id);
    await client.request('close_session', { session_id: id });
    await client.request('get_session', { session_id: id });
    await client.request('describe_access');
    const after = await readCluster(gateway);
    expect(after.get('relayed_requests_total{outcome="ok"}')).toBe(3);
    expect(after.get('relayed_requests_total{outcome="SESSION_NOT_FOUND"}')).toBe(1);
    expect(after.get('relay_seconds_count')).toBe(4);
    expect(after.get('relay_seconds_sum')).toBeGreaterThan(0.2);
  });

  it('show links and workers by their state, and count each loss once', async ({
    shared: { cluster, gateway, workers },
  }) => {
    expect(Object.fromEntries(await readCluster(gateway))).toMatchObject({
      'links{state="connected"}': 2,
      'links{state="broken"}': 0,
      'nodes{state="live"}': 2,
      'nodes{state="draining"}': 0,
      'nodes{state="lost"}': 0,
      node_losses_total: 0,
    });
    await using admin = await cluster.connect(gateway, 'admin');
    await admin.request('drain_node', { node: 'worker-2', drain: true });
    workers[0]!.daemon.signal('SIGKILL');
    await eventually(async () => {
      expect(Object.fromEntries(await readCluster(gateway))).toMatchObject({
        'links{state="connected"}': 1,
        'links{state="broken"}': 1,
        'nodes{state="live"}': 0,
        'nodes{state="draining"}': 1,
        'nodes{state="lost"}': 1,
        node_losses_total: 1,
      });
    });
    // A worker that is removed is no loss.
    await admin.request('remove_node', { node: 'worker-2' });
    await eventually(async () => {
      expect(Object.fromEntries(await readCluster(gateway))).toMatchObject({
        'nodes{state="draining"}': 0,
        node_losses_total: 1,
      });
    });
  });
});

describe('other daemons', () => {
  it('have none of them', async ({ shared: { workers } }) => {
    expect([...(await readCluster(workers[1]!.daemon)).keys()]).toEqual([]);
  });
});
