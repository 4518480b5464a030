type Loopback = '127.0.0.1' | '::1';

/** Addresses on which a program is reached from its own machine, and where it is then. `::` and `0.0.0.0` are all. */
const REACHED_AT: Readonly<Record<string, Loopback>> = {
  '127.0.0.1': '127.0.0.1',
  '0.0.0.0': '127.0.0.1',
  // IPv4 addresses in the sockets of IPv6. Source: RFC 4291, section 2.5.5.2.
  '::ffff:7f00:1': '127.0.0.1',
  '::ffff:0:0': '127.0.0.1',
  '::1': '::1',
};

/**
 * Address of the loopback interface for a listening socket's address; undefined when it listens on another one alone. A
 * socket of `::` accepts IPv4 too, unless it was told not to.
 * @param hasIpv6 whether the interface has an address of IPv6
 */
export function loopbackFor(address: string, hasIpv6: boolean): Loopback | undefined {
  if (address === '::') return hasIpv6 ? '::1' : '127.0.0.1';
  return REACHED_AT[address];
}
