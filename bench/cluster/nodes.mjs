// Nodes of a cluster as Redis sees them: each has a connection, a lease, and sessions that it asserts. Started by bench/cluster.mjs.
import { setTimeout as sleep } from 'node:timers/promises';

import { Membership } from '../../dist/cluster/membership.js';
import { OwnWork } from '../../dist/cluster/own-work.js';
import { connectRegistry, LEASE_MS, log, SESSIONS_EACH } from './registry.mjs';

const { url, numbers, nodes, readers } = JSON.parse(process.argv[2]);
const OWNERS = 50;
let beats = [];

/** A registry whose beats are timed. */
const timed = (registry) => ({
  problem: undefined,
  onReachable: () => undefined,
  beat: async (beat) => {
    const start = performance.now();
    const rival = await registry.beat(beat);
    beats.push(performance.now() - start);
    return rival;
  },
  find: (node) => registry.find(node),
  leave: (node, incarnation) => registry.leave(node, incarnation),
  read: () => registry.read(),
});

async function startNode(number) {
  const { registry } = await connectRegistry(url);
  const node = `node-${number}`;
  const incarnation = String(number).padStart(7, 'a');
  const isReader = number < readers;
  const isWorker = number >= readers || readers === nodes;
  const sessions = Array.from({ length: isWorker ? SESSIONS_EACH : 0 }, (_, index) => ({
    id: `session_${node}-${incarnation}.${String(index).padStart(22, 'B')}`,
    owner: `owner-${(number + index) % OWNERS}`,
  }));
  const membership = new Membership({
    registry: timed(registry),
    leaseMs: LEASE_MS,
    identity: { node, incarnation, version: '1.0.0', link_version: 1, instance_id: `instance-${number}` },
    role: isReader ? (isWorker ? 'node' : 'gateway') : 'worker',
    work: new OwnWork({
      node,
      labels: { zone: 'a' },
      held: () => ({ sessions, claims: [] }),
      capacity: () => 10_000,
      workload: () => ({ sessions: sessions.length, one_shots: 0 }),
    }),
    ...(isReader && { onView: () => Promise.resolve() }),
    log,
  });
  // Nodes do not start at the same instant.
  await sleep(Math.random() * (LEASE_MS / 3));
  await membership.join(isWorker ? `https://10.0.0.1:${8000 + number}` : null);
}

await Promise.all(numbers.map(startNode));
process.on('message', (message) => {
  if (message === 'begin') beats = [];
  if (message === 'report') process.send({ beats });
});
process.once('disconnect', () => process.exit(1));
process.send({ joined: true });
