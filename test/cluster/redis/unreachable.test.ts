import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, expect } from 'vitest';

import type { TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import { describeRootIf, itRoot } from '../../support/root.js';
import { WireClient } from '../../support/wire.js';
import { TestCluster } from '../harness/cluster.js';
import { canMakeNetworks, TestNetwork } from '../harness/network.js';
import { canRunRedis, RedisServer } from '../harness/redis.js';

let network: TestNetwork;
let redis: RedisServer;
let cluster: TestCluster;
let gateways: TestDaemon[];

describeRootIf(canMakeNetworks && canRunRedis)(
  'a command that comes to two gateways, of which one does not reach the node',
  () => {
    beforeAll(async () => {
      network = new TestNetwork();
      redis = await RedisServer.start({ address: network.here, password: randomUUID() });
      cluster = new TestCluster({ redis_url: redis.url, lease: 3 });
      await cluster.startWorker('worker-1', {}, { launcher: network.launcher, address: network.there });
      gateways = await Promise.all(['gate-1', 'gate-2', 'gate-3'].map((name) => cluster.startGateway(name)));
    });
    afterAll(async () => {
      await cluster[Symbol.asyncDispose]();
      await redis[Symbol.asyncDispose]();
      network[Symbol.dispose]();
    });

    itRoot('runs once, and the gateway that has chosen the node says that it may have run', async () => {
      const token = gateways[0]!.createToken('agent', 'twice');
      const connect = ({ url }: TestDaemon) => eventually(() => WireClient.connect(url, ['websocket'], { token }));
      const [reaching, cut, later] = await Promise.all(gateways.map(connect));
      // A link that is open goes on; the other gateways have not needed one yet.
      await reaching!.openSession();
      network.dropConnecting();
      const command_id = `twice-${randomUUID()}`;
      const runs = join(cluster.directory, 'runs');
      const run = (client: WireClient) => client.run(`echo run >> '${runs}'`, undefined, { command_id });
      const chosen = run(cut!);
      await eventually(async () => {
        expect(await redis.ask((asked) => asked.keys(`*cmd:*:${command_id}`))).toHaveLength(1);
      });
      expect(await run(reaching!)).toMatchObject({ status: 'completed', exit_code: 0 });
      const details = { node: 'worker-1', retry_safe: true, maybe_executed: true };
      expect((await chosen).error).toMatchObject({ code: 'NODE_UNREACHABLE', details });
      // Another node is there now, and the client sends the same again to another gateway.
      await cluster.startWorker('worker-2', {}, { address: network.here });
      await eventually(async () => {
        expect(await later!.openSession()).toContain('worker-2');
      });
      expect((await run(later!)).error).toMatchObject({ code: 'NODE_UNREACHABLE', details });
      network.heal();
      await eventually(async () => {
        expect(await run(later!)).toMatchObject({ status: 'completed', exit_code: 0 });
      });
      expect(readFileSync(runs, 'utf8')).toBe('run\n');
      await Promise.all([reaching, cut, later].map((client) => client![Symbol.asyncDispose]()));
    });
  },
);
