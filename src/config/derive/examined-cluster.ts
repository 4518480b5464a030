import type { Configuration } from '../model/configuration.js';

/** Whether a daemon runs commands itself: a gateway has other nodes run them. */
export const runsCommands = ({ cluster, adapter }: Configuration): boolean =>
  adapter.detach || !cluster.enabled || cluster.role !== 'gateway';

/** The settings of a node that `doctor` examines; undefined for a daemon alone. */
export function examinedCluster({ cluster, adapter }: Configuration) {
  // The links to its holders are its own.
  if (!cluster.enabled || adapter.detach) return undefined;
  const { role, linkUrl, linkHost, secretFile = '', redisUrl, tls } = cluster;
  const { cert, key, ca } = tls;
  const files = cert === undefined || key === undefined || ca === undefined ? undefined : { cert, key, ca };
  return { role, linkUrl, linkHost, secretFile, redisUrl: redisUrl?.reveal(), tls: files };
}
