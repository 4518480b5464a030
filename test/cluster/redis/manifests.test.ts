import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readCompose } from '../../support/deploy/compose.js';
import { Overlay } from '../../support/deploy/overlay.js';
import { eventually } from '../../support/measure.js';
import { WireClient } from '../../support/wire.js';
import { DeployedNodes, nodesOfCompose, nodesOfOverlay } from '../harness/deployed-nodes.js';
import { canRunRedis } from '../harness/redis.js';

/** Time for all nodes to know each other: some leases, on a busy machine. */
const JOINED_MS = 30_000;

const MANIFESTS = [
  ['compose.cluster.yaml', nodesOfCompose(readCompose('compose.cluster.yaml'))],
  ['compose.nodes.yaml', nodesOfCompose(readCompose('compose.nodes.yaml'))],
  ['the overlay cluster', nodesOfOverlay(new Overlay('cluster'))],
  ['the overlay nodes', nodesOfOverlay(new Overlay('nodes'))],
] as const;

describe.skipIf(!canRunRedis).each(MANIFESTS)('nodes as %s configures them', (_name, nodes) => {
  const entrances = nodes.filter(({ role }) => role !== 'worker').map(({ name }) => name);
  const working = nodes.filter(({ role }) => role !== 'gateway').map(({ name }) => name);
  const first = entrances[0]!;
  const last = entrances.at(-1)!;
  let deployed: DeployedNodes;
  let token: string;

  beforeAll(async () => {
    deployed = await DeployedNodes.start(nodes);
    token = deployed.get(first).createToken('admin', 'of-all');
  });
  afterAll(() => deployed[Symbol.asyncDispose]());

  const connect = (name: string) =>
    eventually(() => WireClient.connect(deployed.get(name).url, ['websocket'], { token }), JOINED_MS);

  it('find each other, and open no connection without a token', async () => {
    for (const name of entrances) {
      await using client = await connect(name);
      await eventually(async () => {
        const { nodes: known } = await client.request('list_nodes');
        const live = known.filter(({ state, role }) => state === 'live' && role !== 'gateway');
        expect(live.map(({ node, role }) => `${role} ${node}`).sort()).toEqual(
          nodes.flatMap(({ name: node, role }) => (role === 'gateway' ? [] : [`${role} ${node}`])).sort(),
        );
      }, JOINED_MS);
      await expect(WireClient.connect(deployed.get(name).url)).rejects.toThrow();
    }
  });

  it('run sessions of clients of each other', async () => {
    await using here = await connect(first);
    await using there = await connect(last);
    for (const node of working) {
      const session_id = await here.openSession({ placement: { node } });
      expect(session_id).toMatch(new RegExp(`^session_${node}-\\w{7}\\.`));
      expect(await there.run('echo "$((6 * 7))"', session_id)).toMatchObject({ stdout: '42\n', exit_code: 0 });
      await there.request('close_session', { session_id });
    }
  });

  it('open no sessions where one is drained', async () => {
    await using client = await connect(last);
    const node = working[0]!;
    await client.request('drain_node', { node, drain: true });
    const opened = await Promise.all(Array.from({ length: working.length + 1 }, () => client.openSession()));
    expect(opened.filter((id) => id.startsWith(`session_${node}-`))).toEqual([]);
    const readiness = await fetch(new URL('/readyz', deployed.get(node).url));
    expect(readiness.status).toBe(503);
    for (const session_id of opened) await client.request('close_session', { session_id });
  });
});
