import { groupsOf, isLoopbackAddress, plainAddress } from '../ip-address.js';

/** What identifies the other end of a connection. */
export interface PeerFacts {
  /** IP address. */
  readonly address: string;
  /** Uid of the owner of a connection on this machine; undefined when it is not known. */
  readonly owner: number | undefined;
}

/** Groups of an IPv6 address that name its network: a machine can choose all other bits (RFC 4291, 2.5.4). */
const NETWORK_GROUPS = 4;

/**
 * Names what counts as one peer when mistakes and connections are counted: a user of this machine, whichever of the
 * 16 million loopback addresses it connects from; another machine by its IPv4 address or its /64 network.
 */
export function peerKey({ address, owner }: PeerFacts): string {
  if (owner !== undefined) return `user ${owner}`;
  if (isLoopbackAddress(address)) return 'loopback';
  const plain = plainAddress(address);
  if (!plain.includes(':')) return plain;
  const network = groupsOf(plain).slice(0, NETWORK_GROUPS);
  return `${network.map((group) => group.toString(16)).join(':')}::/64`;
}
