import { z } from 'zod';

import { nodeIdFrom } from '../../core/cluster/address.js';
import type { Log } from '../../core/log.js';
import { NODE_NAME } from '../../core/ids.js';
import type { HeldSession } from '../../services/sessions/session-description.js';
import type { RedisConnection, Script } from './redis-connection.js';
import type {
  Beat,
  ClaimedPlace,
  CommandClaim,
  HeldLease,
  NodeLease,
  PlaceWish,
  RegisteredWorker,
  RegistryView,
  Reservation,
} from './registry.js';

/** Milliseconds since 1970, by the clock of Redis: those of nodes may differ. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * Renews a lease, and asserts sessions and claims.
 * KEYS: index of nodes, lease, sessions of the node, then the sessions of each owner, then the claims.
 * ARGV: name, incarnation, lease, its time, time of a place (both in milliseconds), time of a claim in seconds, id of
 * the node, sessions without an owner, then those of each owner (JSON lists).
 * Gives the lease of another incarnation, or nothing.
 */
const BEAT: Script = {
  lua: `${NOW}
local held = redis.call('GET', KEYS[2])
if held and cjson.decode(held).incarnation ~= ARGV[2] then return held end
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[4])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZADD', KEYS[1], now + ARGV[4], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
local over = now + ARGV[5]
local owners = #ARGV - 8
for i = 0, owners do
  for _, id in ipairs(cjson.decode(ARGV[8 + i])) do
    redis.call('ZADD', KEYS[3], over, id)
    if i > 0 then redis.call('ZADD', KEYS[3 + i], over, id) end
  end
  if i > 0 then redis.call('PEXPIRE', KEYS[3 + i], ARGV[5]) end
end
redis.call('PEXPIRE', KEYS[3], ARGV[5])
for i = 4 + owners, #KEYS do redis.call('SET', KEYS[i], ARGV[7], 'NX', 'EX', ARGV[6]) end
return false
`,
};

/**
 * Ends a lease.
 * KEYS: index of nodes, lease. ARGV: name, incarnation; an empty one stands for any.
 */
const LEAVE: Script = {
  lua: `
local held = redis.call('GET', KEYS[2])
if held and ARGV[2] ~= '' and cjson.decode(held).incarnation ~= ARGV[2] then return 0 end
redis.call('DEL', KEYS[2])
return redis.call('ZREM', KEYS[1], ARGV[1])
`,
};

/**
 * Takes a place on the least full node that has a lease, room and the labels.
 * KEYS: sessions of the owner, then for each candidate its lease and its sessions.
 * ARGV: most sessions of the owner (0: any number), time of a place in milliseconds, labels (JSON), name of the
 * preferred node or nothing, then for each candidate its incarnation and the id of the session there.
 * Gives the number of the candidate, from 1; 0 when none has room, -1 when none has a lease, -2 when the owner has enough.
 */
const RESERVE: Script = {
  lua: `${NOW}
if tonumber(ARGV[1]) > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
  if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return -2 end
end
local labels = cjson.decode(ARGV[3])
local best, preferred, leases = nil, nil, 0
for i = 1, (#KEYS - 1) / 2 do
  local text = redis.call('GET', KEYS[2 * i])
  local lease = text and cjson.decode(text)
  if lease and lease.incarnation == ARGV[3 + 2 * i] then
    leases = leases + 1
    local fits = not lease.is_draining
    for name, value in pairs(labels) do fits = fits and lease.labels[name] == value end
    if fits then
      redis.call('ZREMRANGEBYSCORE', KEYS[2 * i + 1], '-inf', now)
      local load = redis.call('ZCARD', KEYS[2 * i + 1]) + lease.one_shots
      if load < lease.capacity then
        local one = { i = i, load = load, fullness = load / lease.capacity, name = lease.node }
        if lease.node == ARGV[4] then preferred = one end
        if not best or one.fullness < best.fullness or (one.fullness == best.fullness and one.name < best.name) then
          best = one
        end
      end
    end
  end
end
if not best then return leases == 0 and -1 or 0 end
if preferred and preferred.load <= best.load + 1 then best = preferred end
local over = now + ARGV[2]
local id = ARGV[4 + 2 * best.i]
redis.call('ZADD', KEYS[2 * best.i + 1], over, id)
redis.call('PEXPIRE', KEYS[2 * best.i + 1], ARGV[2])
if tonumber(ARGV[1]) > 0 then
  redis.call('ZADD', KEYS[1], over, id)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return best.i
`,
};

/** Gives a place back. KEYS: sessions of the node, sessions of the owner. ARGV: id of the session. */
const RELEASE: Script = {
  lua: `
redis.call('ZREM', KEYS[1], ARGV[1])
return redis.call('ZREM', KEYS[2], ARGV[1])
`,
};

/**
 * Notes where a command runs; gives the first note, and whether this is it. One that was there is marked: what has asked
 * may send the command there, too.
 * KEYS: claim, its mark. ARGV: id of the node, time in seconds.
 */
const CLAIM: Script = {
  lua: `
local held = redis.call('GET', KEYS[1])
if held then
  redis.call('SET', KEYS[2], 1, 'EX', ARGV[2])
  return { held, 0 }
end
redis.call('DEL', KEYS[2])
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return { ARGV[1], 1 }
`,
};

/**
 * Takes a claim back; gives 1 when that was done.
 * KEYS: claim, its mark. ARGV: id of the node; 1 to do so though the claim is marked, otherwise 0.
 */
const UNCLAIM: Script = {
  lua: `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] ~= '1' and redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
redis.call('DEL', KEYS[2])
return redis.call('DEL', KEYS[1])
`,
};

/**
 * Writes the registered workers back into a Redis that has lost them; gives the epoch that counts.
 * KEYS: registered workers. ARGV: field of the epoch, epoch, then name and worker (JSON) of each.
 */
const RESTORE: Script = {
  lua: `
for i = 1, #ARGV, 2 do redis.call('HSETNX', KEYS[1], ARGV[i], ARGV[i + 1]) end
return redis.call('HGET', KEYS[1], ARGV[1])
`,
};

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

/**
 * What all nodes of a cluster share, in Redis: which nodes there are, and what must happen once among all of them. Every method
 * but the getter rejects with REGISTRY_UNAVAILABLE, within about a second, when Redis does not answer; at once while it is known
 * not to. The keys, after the prefix:
 * - `nodes`: a sorted set of the names of nodes, by the end of their leases;
 * - `node:NAME`: a lease (JSON), which expires;
 * - `registered`: a hash of the workers that were registered, by name (JSON), with the epoch of the hash;
 * - `sessions:NODE`, `owner:PRINCIPAL`: sorted sets of the ids of sessions, by the time at which they no longer count;
 * - `cmd:PRINCIPAL:ID`: the node that a command runs on; `shared:PRINCIPAL:ID`: another gateway was told of it.
 */
export class RedisRegistry {
  readonly #connection: RedisConnection;
  readonly #leaseMs: number;
  readonly #log: Log;
  readonly #placeMs: number;

  constructor(connection: RedisConnection, leaseMs: number, log: Log) {
    this.#connection = connection;
    this.#leaseMs = leaseMs;
    this.#log = log;
    this.#placeMs = LEASES_OF_PLACE * leaseMs;
  }

  /** Why it does not answer; undefined while it does. */
  get problem(): string | undefined {
    return this.#connection.problem;
  }

  /** Calls `listener` whenever it can be reached again, and at the first time. */
  onReachable(listener: () => void): void {
    this.#connection.onReachable(listener);
  }

  /**
   * Renews the lease of a node, and asserts its sessions and claims.
   * @returns the lease of another incarnation that has the name at the moment; nothing was written then
   */
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
    const times: readonly number[] = [this.#leaseMs, this.#placeMs, CLAIM_SECONDS];
    const ids = [free, ...owners.values()].map((list) => JSON.stringify(list));
    const args: (string | number)[] = [
      ...[lease.node, lease.incarnation, JSON.stringify(lease)],
      ...[...times, nodeId, ...ids],
    ];
    const held = await this.#connection.run(BEAT, keys, args, { isProbe: true });
    return typeof held === 'string' ? this.#leaseFrom(lease.node, held) : undefined;
  }

  /** The lease of a node; undefined when there is none. */
  async find(node: string): Promise<HeldLease | undefined> {
    const key = this.#leaseKey(node);
    const [text, remainingMs] = await this.#connection.send((redis) => Promise.all([redis.get(key), redis.pttl(key)]));
    const lease = text === null ? undefined : this.#leaseFrom(node, text);
    return lease && { lease, remainingMs };
  }

  /** Ends the lease of a node, unless another incarnation has it. */
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

  /** Keeps a worker for all gateways. */
  async register(worker: RegisteredWorker): Promise<void> {
    const text = JSON.stringify(worker);
    await this.#connection.send((redis) => redis.hset(this.#key('registered'), worker.node, text));
  }

  /**
   * Writes registered workers back into a registry that has lost them.
   * @param epoch names its content from now on, unless another gateway has named it already
   * @returns the epoch that counts
   */
  async restore(workers: readonly RegisteredWorker[], epoch: string): Promise<string> {
    const entries = workers.flatMap((worker) => [worker.node, JSON.stringify(worker)]);
    return String(await this.#connection.run(RESTORE, [this.#key('registered')], [EPOCH, epoch, ...entries]));
  }

  /** Forgets a registered worker, and ends its lease. */
  async unregister(node: string): Promise<void> {
    await this.#connection.send((redis) => redis.hdel(this.#key('registered'), node));
    await this.leave(node, '');
  }

  /** Takes a place for a session, for two leases; the node asserts it from then on. Exact over all gateways. */
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

  /** Notes that a command runs on a node, for ten minutes; gives the node that it was noted for first. */
  async claim(claim: CommandClaim, nodeId: string): Promise<ClaimedPlace> {
    const answer = await this.#connection.run(CLAIM, this.#claimKeys(claim), [nodeId, CLAIM_SECONDS]);
    const [holder, isFirst] = answer as readonly [string, number];
    return { nodeId: holder, isFirst: isFirst === 1 };
  }

  /**
   * Takes a claim back that was for this node, unless something else was told of it, and may have sent the command there.
   * @param isUnknownThere the node itself says that it has not run the command: then in any case
   * @returns whether it was taken back: no node has run the command
   */
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
    this.#log.warn('an entry of the registry cannot be read', { key, why: parsed.error.issues[0]?.message });
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
