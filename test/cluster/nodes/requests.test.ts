import { describe, expect, it } from 'vitest';

import { canRunRedis } from '../harness/redis.js';
import { type StartedNodes, useNodes } from '../harness/use-nodes.js';

describe.skipIf(!canRunRedis)('equal nodes', () => {
  let started: StartedNodes;
  useNodes((one) => (started = one));

  it('open sessions on themselves, and serve those of others', async () => {
    const clients = await started.connect();
    for (const [i, client] of clients.entries()) {
      const id = await client.openSession();
      expect(id).toMatch(new RegExp(`^session_node-${i + 1}-`));
      for (const other of clients) expect(await other.run('echo $((6 * 7))', id)).toMatchObject({ stdout: '42\n' });
    }
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
  });
});
