import type { Script } from './connection.js';

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
export const BEAT: Script = {
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
export const LEAVE: Script = {
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
export const RESERVE: Script = {
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
export const RELEASE: Script = {
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
export const CLAIM: Script = {
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
export const UNCLAIM: Script = {
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
export const RESTORE: Script = {
  lua: `
for i = 1, #ARGV, 2 do redis.call('HSETNX', KEYS[1], ARGV[i], ARGV[i + 1]) end
return redis.call('HGET', KEYS[1], ARGV[1])
`,
};
