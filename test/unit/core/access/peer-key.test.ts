import { describe, expect, it } from 'vitest';

import { peerKey } from '../../../../src/core/rate-limits.js';

describe('what counts as one peer', () => {
  it.each([
    ['a user of this machine, from any address', '127.0.0.3', 1000, 'user 1000'],
    ['the same over IPv6', '::1', 1000, 'user 1000'],
    ['all users that are not known', '127.9.9.9', undefined, 'loopback'],
    ['the same over IPv6', '::1', undefined, 'loopback'],
    ['the same by IPv4 in IPv6', '::ffff:127.0.0.1', undefined, 'loopback'],
    ['a machine', '192.0.2.1', undefined, '192.0.2.1'],
    ['the same by IPv4 in IPv6', '::ffff:192.0.2.1', undefined, '192.0.2.1'],
    ['a network of IPv6', '2001:db8:1:2:aaaa:bbbb:cccc:dddd', undefined, '2001:db8:1:2::/64'],
    ['the same from another address of it', '2001:0DB8:1:2::1', undefined, '2001:db8:1:2::/64'],
    ['the network of a link', 'fe80::1%eth0', undefined, 'fe80:0:0:0::/64'],
  ])('is %s: %s', (_what, address, owner, key) => {
    expect(peerKey({ address, owner })).toBe(key);
  });
});
