import type { Role } from '../../core/access/roles.js';
import { AdapterError } from '../../core/errors.js';
import { PERMISSIONS } from '../../core/protocol/permissions.js';
import type { RequestName } from '../../core/protocol/requests.js';
import type { Topic } from '../../core/protocol/requests/subscriptions.js';

/** Topics for the roles that may make a request; the others are for all roles. */
const SAME_ROLES: { readonly [T in Topic]?: RequestName } = { audit: 'read_audit', nodes: 'list_nodes' };

/** @throws AdapterError FORBIDDEN for a topic that the role may not see */
export function assertMayFollow(topics: readonly Topic[], role: Role): void {
  for (const topic of topics) {
    const request = SAME_ROLES[topic];
    if (request !== undefined && !PERMISSIONS[request].includes(role)) throw topicForbidden(topic, role, request);
  }
}

function topicForbidden(topic: Topic, role: Role, request: RequestName): AdapterError {
  const needs = PERMISSIONS[request];
  const message = `the topic ${topic} needs one of the roles ${needs.join(', ')}; this connection has the role ${role}`;
  return new AdapterError('FORBIDDEN', message, { details: { topic, role, needs: [...needs] } });
}

/** The error of a subscription to the nodes of a daemon alone. */
export const noNodes = (): AdapterError =>
  new AdapterError('INVALID_REQUEST', 'topics: nodes is not available on this daemon, which has no nodes', {
    details: { field: 'topics' },
  });
