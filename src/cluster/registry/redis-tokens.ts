import { sharedToken, type SharedToken, sharedTokenId, type SharedTokenMap } from '../../core/token.js';
import type { Log } from '../../core/log.js';
import { randomText } from '../../engine/system/random.js';
import type { PulledTokens, TokenRegistry } from '../../services/access/shared-tokens.js';
import type { RedisChannel, RedisConnection, Script } from './redis-connection.js';

/** Time in which the node that was chosen makes the first token, in seconds. */
const FIRST_SECONDS = 60;
/** Random bytes of a version: those of an emptied Redis are others. */
const VERSION_BYTES = 9;

/**
 * Writes tokens that supersede those that are there, and tells it on the channel with the name of the version. The rule
 * is that of `supersedes`. Users of Redis that may not publish write all the same.
 * KEYS: tokens, their version. ARGV: the new version, then id and token (JSON) of each.
 */
const PUSH: Script = {
  lua: `
local function supersedes(one, other)
  if one.version ~= other.version then return one.version > other.version end
  if one.token == cjson.null or other.token == cjson.null then
    return one.token == cjson.null and other.token ~= cjson.null
  end
  return one.token.sha256 > other.token.sha256
end
local changed = false
for i = 2, #ARGV, 2 do
  local held = redis.call('HGET', KEYS[1], ARGV[i])
  if not held or supersedes(cjson.decode(ARGV[i + 1]), cjson.decode(held)) then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
    changed = true
  end
end
if changed then
  redis.call('SET', KEYS[2], ARGV[1])
  redis.pcall('PUBLISH', KEYS[2], ARGV[1])
end
return changed and 1 or 0
`,
};

/**
 * The tokens of a cluster in Redis, with hashes of their secrets. Keys, after the prefix: `tokens`, a hash by the ids of
 * tokens (JSON); `tokens:version`; `tokens:first`, set while a node makes the first one.
 */
export class RedisTokens implements TokenRegistry {
  readonly #connection: RedisConnection;
  readonly #log: Log;
  #channel: RedisChannel | undefined;

  constructor(connection: RedisConnection, log: Log) {
    this.#connection = connection;
    this.#log = log;
  }

  onChanged(listener: () => void): void {
    const [, channel] = this.#keys;
    this.#channel ??= this.#connection.subscribe(channel);
    this.#channel.onMessage(listener);
  }

  get tellsChanges(): boolean {
    return this.#channel?.isOpen === true;
  }

  async pull(known: string | undefined): Promise<PulledTokens | undefined> {
    const [tokens, versionKey] = this.#keys;
    const version = (await this.#connection.send((redis) => redis.get(versionKey))) ?? undefined;
    if (version !== undefined && version === known) return undefined;
    const texts = await this.#connection.send((redis) => redis.hgetall(tokens));
    const read = Object.entries(texts).flatMap(([id, text]) => this.#read(id, text));
    return { version, tokens: new Map(read) };
  }

  async push(tokens: SharedTokenMap): Promise<void> {
    const entries = [...tokens].flatMap(([id, token]) => [id, JSON.stringify(token)]);
    await this.#connection.run(PUSH, this.#keys, [randomText(VERSION_BYTES), ...entries]);
  }

  async claimFirst(): Promise<boolean> {
    const key = this.#connection.key('tokens', 'first');
    return (await this.#connection.send((redis) => redis.set(key, '1', 'EX', FIRST_SECONDS, 'NX'))) === 'OK';
  }

  get #keys(): readonly [string, string] {
    return [this.#connection.key('tokens'), this.#connection.key('tokens', 'version')];
  }

  #read(id: string, text: string): readonly (readonly [string, SharedToken])[] {
    try {
      return [[sharedTokenId.parse(id), sharedToken.parse(JSON.parse(text))]];
    } catch (error) {
      // Not that of a node of this cluster: its token does not count.
      this.#log.error('a token in Redis does not count', { id, why: (error as Error).message });
      return [];
    }
  }
}
