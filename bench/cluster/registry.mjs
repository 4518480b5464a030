// The registry of the daemon, over a connection of its own.
import { RedisConnection } from '../../dist/cluster/registry/redis-connection.js';
import { RedisRegistry } from '../../dist/cluster/registry/redis-registry.js';

export const LEASE_MS = 6000;
export const SESSIONS_EACH = 20;

const ignore = () => undefined;
const warn = (message, about) => process.stderr.write(`${message} ${JSON.stringify(about ?? {})}\n`);
export const log = { debug: ignore, info: ignore, warn, error: warn };

export async function connectRegistry(url) {
  const connection = await RedisConnection.open({ url, prefix: '{shell-adapter}:', onError: ignore, log });
  return { connection, registry: new RedisRegistry({ connection, leaseMs: LEASE_MS, log }) };
}
