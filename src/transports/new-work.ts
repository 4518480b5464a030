import type { ClusterPort } from '../services/ports/cluster-port.js';

/**
 * Does what a node that is being drained refuses.
 * @throws AdapterError NODE_DRAINING
 */
export async function asNewWork<T>(cluster: Pick<ClusterPort, 'beginWork'>, act: () => Promise<T>): Promise<T> {
  const end = cluster.beginWork();
  try {
    return await act();
  } finally {
    end();
  }
}
