/** Whether an IP address is one of the loopback interface, including IPv4 in IPv6. */
export function isLoopbackAddress(address: string): boolean {
  const plain = plainAddress(address);
  return plain === '::1' || plain.startsWith('127.');
}

/**
 * Normalises an IP address: IPv4 in IPv6 as IPv4, IPv6 compressed as in URLs, without the zone of a link-local address
 * (`%eth0`).
 */
export function plainAddress(address: string): string {
  const [bare = ''] = address.split('%');
  if (!bare.includes(':')) return bare;
  const short = compressed(bare);
  const [, high = '', low = ''] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short) ?? [];
  if (high === '') return short;
  const numbers = [high, low].map((group) => Number.parseInt(group, 16));
  return numbers.flatMap((number) => [number >> 8, number & 255]).join('.');
}

/** Shortens the longest run of zero groups of an IPv6 address to `::` (RFC 5952). */
export const compressed = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1);

/** Groups of 16 bits in an IPv6 address. */
const GROUPS = 8;

/** Returns the eight numbers of an IPv6 address, each of 16 bits, from its plain form. */
export function groupsOf(plainIPv6: string): readonly number[] {
  const [head = [], tail = []] = plainIPv6.split('::').map((side) => (side === '' ? [] : side.split(':')));
  const zeros = Array.from({ length: GROUPS - head.length - tail.length }, () => '0');
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}
