import type { Configuration } from '../../config/model/configuration.js';
import { LinkSecret } from '../../services/access/link-proof.js';
import type { Detachment } from './detach.js';

/**
 * `instance_id` for clients: another one means that everything of theirs has ended. What a cluster runs outlives the node
 * that they are connected to, and so does what another process holds.
 * @param instance id of this process
 */
export function runOf(detachment: Detachment | undefined, { cluster }: Configuration, instance: string): string {
  if (detachment) return detachment.as === 'daemon' ? detachment.run : instance;
  const { enabled, role, secretFile } = cluster;
  return enabled && role !== 'worker' && secretFile !== undefined ? new LinkSecret(secretFile).clusterId : instance;
}
