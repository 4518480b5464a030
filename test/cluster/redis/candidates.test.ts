import { randomUUID } from 'node:crypto';

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { SharedPlaces } from '../../../src/cluster/places.js';
import { RedisConnection } from '../../../src/cluster/registry/redis-connection.js';
import { RedisRegistry } from '../../../src/cluster/registry/redis-registry.js';
import type { OwnSessionNode, SessionNode } from '../../../src/cluster/placement.js';
import { AdapterError } from '../../../src/core/errors.js';
import { canRunRedis, RedisServer } from '../harness/redis.js';

const LEASE_MS = 600_000;
const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const INCARNATION = 'aaaaaaa';
const AT_ONCE = 16;

/** A node as the registry has it. */
interface Lease {
  readonly name: string;
  readonly isDraining: boolean;
  readonly labels: Record<string, string>;
  readonly capacity: number;
  /** One-shot commands that run there. */
  readonly oneShots: number;
}

let redis: RedisServer;

beforeAll(async () => {
  if (canRunRedis) redis = await RedisServer.start();
});

afterAll(async () => {
  if (canRunRedis) await redis[Symbol.asyncDispose]();
});

const idOf = (name: string): string => `${name}-${INCARNATION}`;

/** A gateway without clients: what it reserves with, under keys of this test's own. */
async function connectTo(prefix: string) {
  const connection = await RedisConnection.open({ url: redis.url, prefix, onError: () => undefined, log: SILENT });
  const registry = new RedisRegistry(connection, LEASE_MS, SILENT);
  const places = new SharedPlaces(registry, 'gate', () => 10_000, SILENT);
  return { registry, places, [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose]() };
}

const write = (registry: RedisRegistry, { name, isDraining, labels, capacity, oneShots }: Lease) =>
  registry.beat({
    lease: {
      ...{ node: name, incarnation: INCARNATION, role: 'worker', url: 'https://127.0.0.1:1', labels, capacity },
      ...{ one_shots: oneShots, is_draining: isDraining, version: '1', link_version: 1, instance_id: name },
    },
    sessions: [],
    claims: [],
  });

/** The node as a gateway knows it. */
const known = ({ name, isDraining, labels, capacity }: Lease, load: number): OwnSessionNode => ({
  ...{ isHere: true, name, nodeId: idOf(name), problem: undefined, isLive: true, isDraining, labels, load, capacity },
  begin: () => () => undefined,
});

/** Opens a session; gives the name of its node, or the code of the error. */
async function open(
  places: SharedPlaces,
  nodes: readonly SessionNode[],
  { labels, preferred }: { labels?: Record<string, string>; preferred?: string | undefined } = {},
): Promise<string> {
  const principal = { id: 'token-1', name: 'token', role: 'agent', isLocalPeer: false } as const;
  let on = '';
  try {
    await places.open({ nodes, labels, preferred, principal, whyNone: () => 'none' }, (node, sessionId) => {
      on = node.name;
      return Promise.resolve({ reply: { session_id: sessionId } as never, isRecorded: true });
    });
    return on;
  } catch (error) {
    if (error instanceof AdapterError) return error.code;
    throw error;
  }
}

/**
 * Opens sessions, some of them at once. All at once would keep Redis busy for longer on a full machine than a gateway waits for
 * an answer.
 */
async function openMany(count: number, openNext: (index: number) => Promise<string>): Promise<string[]> {
  const given: string[] = [];
  let next = 0;
  const openSome = async () => {
    while (next < count) given.push(await openNext(next++));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, openSome));
  return given;
}

const many = (count: number, lease: Partial<Lease> = {}): Lease[] =>
  Array.from({ length: count }, (_, i) => ({
    ...{ name: `n${String(i).padStart(4, '0')}`, isDraining: false, labels: {}, capacity: 1, oneShots: 0 },
    ...lease,
  }));

describe.skipIf(!canRunRedis)('places on more nodes than are looked at first', () => {
  it('are all given out, each once, by gateways that know nothing of what the others have placed', async () => {
    const prefix = `{${randomUUID()}}:`;
    await using first = await connectTo(prefix);
    await using second = await connectTo(prefix);
    const leases = many(150);
    await Promise.all(leases.map((lease) => write(first.registry, lease)));
    const nodes = leases.map((lease) => known(lease, 0));
    const gateways = [first, second];
    const given = await openMany(200, (i) => open(gateways[i % 2]!.places, nodes));
    const names = leases.map(({ name }) => name);
    expect(given.toSorted()).toEqual([...Array.from({ length: 50 }, () => 'NO_CAPACITY'), ...names]);
  });

  it('are found on a node that seems full, or without the labels', async () => {
    await using gateway = await connectTo(`{${randomUUID()}}:`);
    const full = many(60, { oneShots: 1 });
    const free = { ...full[0]!, name: 'free', labels: { disk: 'fast' }, oneShots: 0, capacity: 2 };
    await Promise.all([...full, free].map((lease) => write(gateway.registry, lease)));
    const wish = { labels: { disk: 'fast' } };
    const others = full.map((lease) => known({ ...lease, ...wish }, 0));
    for (const seeming of [known(free, 1), known({ ...free, labels: {} }, 0)])
      expect(await open(gateway.places, [...others, seeming], wish)).toBe('free');
  });
});

const label = fc.constantFrom('a', 'b');
const lease = fc.record({
  name: fc.stringMatching(/^[a-z]{1,3}$/),
  isDraining: fc.boolean(),
  labels: fc.dictionary(label, label, { maxKeys: 1 }),
  capacity: fc.integer({ min: 1, max: 6 }),
  oneShots: fc.nat({ max: 4 }),
});

/** What the registry gives when it looks at all nodes. */
function modelOf(leases: readonly Lease[], counts: ReadonlyMap<string, number>, wish: Wish): string {
  const able = leases
    .map((one) => ({ ...one, load: one.oneShots + (counts.get(one.name) ?? 0) }))
    .filter(({ isDraining, load, capacity }) => !isDraining && load < capacity)
    .filter(({ labels }) => Object.entries(wish.labels).every(([name, value]) => labels[name] === value))
    .toSorted((a, b) => a.load / a.capacity - b.load / b.capacity || (a.name < b.name ? -1 : 1));
  const near = able.find(({ name }) => name === wish.preferred);
  const [best] = able;
  if (!best) return 'NO_CAPACITY';
  return near && near.load <= best.load + 1 ? near.name : best.name;
}

interface Wish {
  readonly labels: Record<string, string>;
  readonly preferred: string | undefined;
}

describe.skipIf(!canRunRedis)('the place of a session', () => {
  it('is that of a look at all nodes, while the gateway knows what they carry', async () => {
    const wishes = fc.array(fc.record({ labels: fc.dictionary(label, label, { maxKeys: 1 }), prefers: fc.nat() }), {
      minLength: 1,
      maxLength: 12,
    });
    const leases = fc.uniqueArray(lease, { selector: ({ name }) => name, minLength: 40, maxLength: 70 });
    await fc.assert(
      fc.asyncProperty(leases, wishes, async (all, wanted) => {
        await using gateway = await connectTo(`{${randomUUID()}}:`);
        await Promise.all(all.map((one) => write(gateway.registry, one)));
        const counts = new Map<string, number>();
        for (const { labels, prefers } of wanted) {
          const wish = { labels, preferred: prefers % 2 === 0 ? all[prefers % all.length]?.name : undefined };
          const nodes = all.map((one) => known(one, one.oneShots + (counts.get(one.name) ?? 0)));
          const expected = modelOf(all, counts, wish);
          const chosen = await open(gateway.places, nodes, wish);
          expect(chosen).toBe(expected);
          counts.set(chosen, (counts.get(chosen) ?? 0) + 1);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('is never on a node that is full or lacks a label, and never refused while one has room, whatever the gateway knows', async () => {
    const loads = fc.array(fc.nat({ max: 6 }), { minLength: 70, maxLength: 70 });
    const leases = fc.uniqueArray(lease, { selector: ({ name }) => name, minLength: 34, maxLength: 70 });
    await fc.assert(
      fc.asyncProperty(leases, loads, fc.dictionary(label, label, { maxKeys: 1 }), async (all, wrong, labels) => {
        await using gateway = await connectTo(`{${randomUUID()}}:`);
        await Promise.all(all.map((one) => write(gateway.registry, one)));
        const nodes = all.map((one, i) => known({ ...one, isDraining: false, labels: {} }, wrong[i] ?? 0));
        const room = (one: Lease): number => {
          const fits = Object.entries(labels).every(([name, value]) => one.labels[name] === value);
          return fits && !one.isDraining ? Math.max(0, one.capacity - one.oneShots) : 0;
        };
        const total = all.reduce((sum, one) => sum + room(one), 0);
        const given = await openMany(total + 3, () => open(gateway.places, nodes, { labels }));
        for (const one of all) expect(given.filter((name) => name === one.name)).toHaveLength(room(one));
        expect(given.filter((name) => name === 'NO_CAPACITY')).toHaveLength(3);
      }),
      { numRuns: 25 },
    );
  });
});
