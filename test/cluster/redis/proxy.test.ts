import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readCompose } from '../../support/deploy/compose.js';
import { eventually } from '../../support/measure.js';
import { WireClient } from '../../support/wire.js';
import { DeployedNodes, nodesOfCompose } from '../harness/deployed-nodes.js';
import { canRunProxy, Proxy } from '../harness/proxy.js';
import { canRunRedis } from '../harness/redis.js';

/** The proxy asks for the health of each server every 2 seconds, and believes the third answer. */
const NOTICED_MS = 30_000;

const canRun = canRunRedis && canRunProxy;

describe.skipIf(!canRun)('the proxy of compose.nodes.yaml (needs haproxy)', () => {
  const nodes = nodesOfCompose(readCompose('compose.nodes.yaml'));
  let deployed: DeployedNodes;
  let proxy: Proxy;
  let token: string;

  beforeAll(async () => {
    deployed = await DeployedNodes.start(nodes);
    proxy = await Proxy.start('haproxy.nodes.cfg', (name) => new URL(deployed.get(name).url).host);
    token = deployed.get('node-1').createToken('admin', 'of-all');
  });
  afterAll(async () => {
    await proxy[Symbol.asyncDispose]();
    await deployed[Symbol.asyncDispose]();
  });

  /** Connects three clients for each node at once; gives the nodes that they have come to. */
  async function reached(): Promise<string[]> {
    const connect = () => WireClient.connect(proxy.url, ['websocket'], { token });
    const clients = await Promise.all([...nodes, ...nodes, ...nodes].map(connect));
    const answers = await Promise.all(clients.map((client) => client.request('describe_access')));
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
    return [...new Set(answers.flatMap(({ node }) => node ?? []))].sort();
  }

  it('spreads clients over all nodes, and sends none to one that is drained', async () => {
    await eventually(async () => {
      expect(await reached()).toEqual(['node-1', 'node-2', 'node-3']);
    }, NOTICED_MS);
    await using admin = await WireClient.connect(deployed.get('node-2').url, ['websocket'], { token });
    const session_id = await admin.openSession({ placement: { node: 'node-2' } });
    await admin.request('drain_node', { node: 'node-2', drain: true });
    await eventually(async () => {
      expect(await reached()).toEqual(['node-1', 'node-3']);
    }, NOTICED_MS);
    // What runs there is reached by another one.
    await using client = await WireClient.connect(proxy.url, ['websocket'], { token });
    expect(await client.run('echo there', session_id)).toMatchObject({ stdout: 'there\n' });
    await client.request('close_session', { session_id });
  });
});
