import { describe, expect, it } from 'vitest';

import { LOCAL_PRINCIPAL, type Principal } from '../../../../src/core/principal.js';
import { accepted, announced, clientMessage, requestMessage } from '../../../../src/core/cluster/link-messages.js';

const relay = (principal: Principal, localRole: Principal['role'] = 'agent') =>
  accepted(clientMessage.parse({ client: 'c', principal: announced(principal, 'gate') }).principal, {
    node: 'gate',
    localRole,
  });

describe('a principal of another node', () => {
  const token: Principal = { id: 'token_x', name: 'ci', role: 'operator', isLocalPeer: false };

  it('keeps its id, name and role', () => {
    expect(relay(token)).toMatchObject({ ...token, via: 'gate' });
  });

  it('is local.NODE if it needs no token there, with the role that this node gives, and never an operator', () => {
    expect(relay(LOCAL_PRINCIPAL)).toMatchObject({
      id: 'local.gate',
      name: 'local.gate',
      role: 'agent',
      isLocalPeer: true,
    });
  });

  it.each([
    ['viewer', 'operator', 'viewer'],
    ['agent', 'admin', 'agent'],
    ['admin', 'viewer', 'viewer'],
    ['viewer', 'agent', 'agent'],
  ] as const)('of a page with the role %s has at most %s: %s', (role, localRole, expected) => {
    expect(relay({ ...LOCAL_PRINCIPAL, role, pageId: 'p' }, localRole).role).toBe(expected);
  });

  it.each(['local', ''])('cannot have the id %j, which belongs to programs of this machine', (id) => {
    const message = { client: 'c', principal: { ...announced(token, 'gate'), id } };
    expect(clientMessage.safeParse(message).success).toBe(false);
  });
});

it('a local program of the daemon whose sessions are held is a local program of the holder', () => {
  const { principal } = clientMessage.parse({ client: 'c', principal: announced(LOCAL_PRINCIPAL, 'daemon') });
  const node = { node: 'daemon', localRole: 'admin', isOwnDaemon: true } as const;
  expect(accepted(principal, node)).toMatchObject({ id: 'local', name: 'local', isLocalPeer: true });
});

it('a request may have no payload', () => {
  expect(requestMessage.parse({ name: 'list_sessions' })).toMatchObject({ name: 'list_sessions' });
});
