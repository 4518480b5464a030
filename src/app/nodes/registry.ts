import { ConfigurationError } from '../../config/model/problems.js';

import type { EngineContext, SharedRegistry } from '../runtime-context.js';

/**
 * Connects to the registry of the cluster, and loads what that needs only if there is one. A registry that does not
 * answer is tried further. It is closed after what uses it.
 * @returns undefined for a daemon alone, and where workers are registered at each gateway
 * @throws ConfigurationError when the package is missing
 */
export async function buildRegistry({
  configuration,
  closers,
  metrics,
  log: logs,
}: EngineContext): Promise<SharedRegistry | undefined> {
  const { enabled, redisUrl, keyPrefix: prefix, leaseMs } = configuration().cluster;
  if (!enabled || redisUrl === undefined) return undefined;
  const { RedisConnection } = await import('../../cluster/registry/redis/connection.js');
  const { RedisTokens } = await import('../../cluster/registry/redis/redis-tokens.js');
  const { RedisRegistry } = await import('../../cluster/registry/redis/redis-registry.js');
  const log = logs('cluster');
  const onError = () => {
    metrics.registryFailed();
  };
  try {
    const connection = await RedisConnection.open({ url: redisUrl.reveal(), prefix, onError, log });
    closers.push(() => connection[Symbol.asyncDispose]());
    const registry = new RedisRegistry({ connection, leaseMs, log });
    return { connection, registry, tokens: new RedisTokens({ connection, log }) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const place = { file: 'configuration', line: undefined, column: undefined };
    const problem = { ...place, path: 'cluster.redis_url', message: 'needs ioredis: npm install ioredis' };
    throw new ConfigurationError([problem], { cause: error });
  }
}
