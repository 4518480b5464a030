import { z } from 'zod';

import { nodeIdFrom } from '../../../core/cluster/node-id.js';
import type { Log } from '../../../core/logging/log.js';
import { NODE_NAME } from '../../../core/node-name.js';
import type { HeldSession } from '../../../services/sessions/held-session.js';
import type {
  Beat,
  ClaimedPlace,
  CommandClaim,
  HeldLease,
  NodeLease,
  PlaceWish,
  RegisteredWorker,
  Registry,
  RegistryView,
  Reservation,
} from '../registry.js';
import type { RedisConnection } from './connection.js';
import { BEAT, CLAIM, LEAVE, RELEASE, RESERVE, RESTORE, UNCLAIM } from './scripts.js';

/** How long a command is known to have run, in seconds: a client that repeats it does so within minutes. */
const CLAIM_SECONDS = 600;
/** Leases that a place outlives without being asserted. */
const LEASES_OF_PLACE = 2;

/** Field of `registered` that tells an emptied Redis from one without workers: no name of a node. */
const EPOCH = '_epoch';

const labels = z.record(z.string(), z.string());

const leaseSchema = z.object({
  node: z.string().regex(NODE_NAME),
  incarnation: z.string(),
  role: z.enum(['node', 'gateway', 'worker']),
  url: z.string().nullable(),
  labels,
  capacity: z.int().min(0),
  one_shots: z.int().min(0),
  sessions: z.int().min(0).optional(),
  is_draining: z.boolean(),
  version: z.string(),
  link_version: z.int(),
  instance_id: z.string(),
  kept_by: z.string().optional(),
});

const registeredSchema = z.object({
  node: z.string().regex(NODE_NAME),
  url: z.string(),
  labels: labels.optional(),
  capacity: z.int().optional(),
});

/** Dependencies of `RedisRegistry`. */
export interface RedisRegistryOptions {
  readonly connection: RedisConnection;
  readonly leaseMs: number;
  readonly log: Log;
}

/**
 * The registry in Redis. Its keys, after the prefix:
 * - `nodes`: a sorted set of the names of nodes, by the end of their leases;
 * - `node:NAME`: a lease (JSON), which expires;
 * - `registered`: a hash of the workers that were registered, by name (JSON), with the epoch of the hash;
 * - `sessions:NODE`, `owner:PRINCIPAL`: sorted sets of the ids of sessions, by the time at which they no longer count;
 * - `cmd:PRINCIPAL:ID`: the node that a command runs on; `shared:PRINCIPAL:ID`: another gateway was told of it.
 */
export class RedisRegistry implements Registry {
  readonly #options: RedisRegistryOptions;
  readonly #connection: RedisConnection;
  readonly #placeMs: number;

  constructor(options: RedisRegistryOptions) {
    this.#options = options;
    this.#connection = options.connection;
    this.#placeMs = LEASES_OF_PLACE * options.leaseMs;
  }

  get problem(): string | undefined {
    return this.#connection.problem;
  }

  onReachable(listener: () => void): void {
    this.#connection.onReachable(listener);
  }

  async beat({ lease, sessions, claims }: Beat): Promise<NodeLease | undefined> {
    const nodeId = nodeIdFrom(lease.node, lease.incarnation);
    const owners = idsByOwner(sessions);
    const free = owners.get(undefined) ?? [];
    owners.delete(undefined);
    const keys = [
      ...[this.#key('nodes'), this.#leaseKey(lease.node), this.#key('sessions', nodeId)],
      ...[...owners.keys()].map((owner) => this.#ownerKey(owner)),
      ...claims.map((claim) => this.#claimKey(claim)),
    ];
    const times: readonly number[] = [this.#options.leaseMs, this.#placeMs, CLAIM_SECONDS];
    const ids = [free, ...owners.values()].map((list) => JSON.stringify(list));
    const args: (string | number)[] = [
      ...[lease.node, lease.incarnation, JSON.stringify(lease)],
      ...[...times, nodeId, ...ids],
    ];
    const held = await this.#connection.run(BEAT, keys, args, { isProbe: true });
    return typeof held === 'string' ? this.#leaseFrom(lease.node, held) : undefined;
  }

  async find(node: string): Promise<HeldLease | undefined> {
    const key = this.#leaseKey(node);
    const [text, remainingMs] = await this.#connection.send((redis) => Promise.all([redis.get(key), redis.pttl(key)]));
    const lease = text === null ? undefined : this.#leaseFrom(node, text);
    return lease && { lease, remainingMs };
  }

  async leave(node: string, incarnation: string): Promise<void> {
    await this.#connection.run(LEAVE, [this.#key('nodes'), this.#leaseKey(node)], [node, incarnation]);
  }

  async read(): Promise<RegistryView> {
    const [names, registered] = await this.#connection.send((redis) =>
      Promise.all([redis.zrangebyscore(this.#key('nodes'), '-inf', '+inf'), redis.hgetall(this.#key('registered'))]),
    );
    const keys = names.map((name) => this.#leaseKey(name));
    const texts = keys.length === 0 ? [] : await this.#connection.send((redis) => redis.mget(keys));
    const leases = names.flatMap((name, i) => {
      const lease = this.#leaseFrom(name, texts[i] ?? undefined);
      return lease ? [[name, lease] as const] : [];
    });
    const { [EPOCH]: epoch, ...workers } = registered;
    return {
      nodes: new Map(leases),
      registered: Object.values(workers).flatMap((text) => this.#registeredFrom(text)),
      epoch,
    };
  }

  async register(worker: RegisteredWorker): Promise<void> {
    const text = JSON.stringify(worker);
    await this.#connection.send((redis) => redis.hset(this.#key('registered'), worker.node, text));
  }

  async restore(workers: readonly RegisteredWorker[], epoch: string): Promise<string> {
    const entries = workers.flatMap((worker) => [worker.node, JSON.stringify(worker)]);
    return String(await this.#connection.run(RESTORE, [this.#key('registered')], [EPOCH, epoch, ...entries]));
  }

  async unregister(node: string): Promise<void> {
    await this.#connection.send((redis) => redis.hdel(this.#key('registered'), node));
    await this.leave(node, '');
  }

  async reserve({
    candidates,
    labels: wanted,
    owner,
    maxOfOwner = 0,
    preferred = '',
  }: PlaceWish): Promise<Reservation> {
    const keys = candidates.flatMap(({ node, nodeId }) => [this.#leaseKey(node), this.#key('sessions', nodeId)]);
    const places = candidates.flatMap(({ node, nodeId, sessionId }) => [nodeId.slice(node.length + 1), sessionId]);
    const args = [maxOfOwner, this.#placeMs, JSON.stringify(wanted), preferred, ...places];
    const chosen = Number(await this.#connection.run(RESERVE, [this.#ownerKey(owner), ...keys], args));
    return candidates[chosen - 1] ?? { refused: REFUSALS[-chosen] ?? 'no_room' };
  }

  async release(nodeId: string, { id, owner = '' }: HeldSession): Promise<void> {
    await this.#connection.run(RELEASE, [this.#key('sessions', nodeId), this.#ownerKey(owner)], [id]);
  }

  async claim(claim: CommandClaim, nodeId: string): Promise<ClaimedPlace> {
    const answer = await this.#connection.run(CLAIM, this.#claimKeys(claim), [nodeId, CLAIM_SECONDS]);
    const [holder, isFirst] = answer as readonly [string, number];
    return { nodeId: holder, isFirst: isFirst === 1 };
  }

  async unclaim(claim: CommandClaim, nodeId: string, isUnknownThere: boolean): Promise<boolean> {
    return (await this.#connection.run(UNCLAIM, this.#claimKeys(claim), [nodeId, isUnknownThere ? 1 : 0])) === 1;
  }

  #key(...parts: readonly string[]): string {
    return this.#connection.key(...parts);
  }

  #leaseKey(node: string): string {
    return this.#key('node', node);
  }

  #ownerKey(owner: string | undefined): string {
    return this.#key('owner', owner ?? '');
  }

  #claimKey({ owner, commandId }: CommandClaim): string {
    return this.#key('cmd', owner, commandId);
  }

  /** The claim, and its mark. */
  #claimKeys(claim: CommandClaim): readonly string[] {
    return [this.#claimKey(claim), this.#key('shared', claim.owner, claim.commandId)];
  }

  #leaseFrom(node: string, text: string | undefined): NodeLease | undefined {
    return text === undefined ? undefined : this.#read(leaseSchema, text, this.#leaseKey(node));
  }

  #registeredFrom(text: string): readonly RegisteredWorker[] {
    const worker = this.#read(registeredSchema, text, this.#key('registered'));
    return worker ? [worker] : [];
  }

  /** What another release, or something else, has written and cannot be read is left out. */
  #read<T>(schema: z.ZodType<T>, text: string, key: string): T | undefined {
    const parsed = schema.safeParse(parse(text));
    if (parsed.success) return parsed.data;
    this.#options.log.warn('an entry of the registry cannot be read', { key, why: parsed.error.issues[0]?.message });
    return undefined;
  }
}

/** By the negated answer of the script. */
const REFUSALS = ['no_room', 'no_lease', 'owner_limit'] as const;

function idsByOwner(sessions: readonly HeldSession[]): Map<string | undefined, string[]> {
  const ids = new Map<string | undefined, string[]>();
  for (const { id, owner } of sessions) {
    const own = ids.get(owner);
    if (own) own.push(id);
    else ids.set(owner, [id]);
  }
  return ids;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The schema says what is wrong with it.
    return undefined;
  }
}
