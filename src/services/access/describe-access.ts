import { LOCAL_ID, type Principal } from '../../core/access/principal.js';
import { PERMISSIONS } from '../../core/protocol/permissions.js';
import type { Answer } from '../../core/protocol/requests.js';

/**
 * Describes a principal and the requests that its role may make.
 * @param node name of this node of a cluster; undefined for a daemon alone
 */
export function describeAccess(
  { id, name, role, isLocalPeer, expiresAt, pageId }: Principal,
  node: string | undefined,
): Answer<'describe_access'> {
  const may = Object.entries(PERMISSIONS).flatMap(([request, roles]) => (roles.includes(role) ? [request] : []));
  const isPage = pageId !== undefined;
  return {
    name,
    role,
    is_local: isLocalPeer,
    ...(id !== LOCAL_ID && { token_id: id }),
    ...(node !== undefined && { node }),
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
    may: may.filter((request) => !isPage || request !== 'create_dashboard_link'),
    server_time: new Date().toISOString(),
  };
}
