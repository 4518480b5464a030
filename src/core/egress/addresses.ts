import { groupsOf } from '../ip-address.js';

/** An IP address as a number, with the bits of its version. An IPv4 address mapped to IPv6 is an IPv4 address. */
export interface Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

/** All addresses that share the first bits of one. */
export interface AddressRange extends Address {
  readonly prefix: number;
}

const MAPPED_PREFIX = 0xffffn;

/** Parses an IP address in its canonical form, as `hostOf` returns it; undefined for anything else. */
export function parseAddress(text: string): Address | undefined {
  if (/^\d+(\.\d+){3}$/.test(text)) {
    const value = text.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
    return { bits: 32, value };
  }
  return text.includes(':') ? parseSix(text) : undefined;
}

function parseSix(text: string): Address {
  const value = groupsOf(text).reduce((sum, group) => (sum << 16n) | BigInt(group), 0n);
  return value >> 32n === MAPPED_PREFIX ? { bits: 32, value: value & 0xffff_ffffn } : { bits: 128, value };
}

/** Whether an address lies in a range. */
export const isInRange = ({ bits, value }: Address, range: AddressRange): boolean =>
  bits === range.bits && value >> BigInt(bits - range.prefix) === range.value >> BigInt(bits - range.prefix);

const range = (text: string): AddressRange => {
  const [address = '', prefix] = text.split('/');
  return { ...(parseAddress(address) as Address), prefix: Number(prefix) };
};

/** Ranges of this machine itself. */
const LOOPBACK = ['127.0.0.0/8', '::1/128'].map(range);

/** Ranges that are not, or not only, addresses of public servers. Source: the special-purpose registries of the IANA. */
const NOT_PUBLIC = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
  // Among those of IPv6 that are assigned at all: protocols such as Teredo, documentation, and 6to4.
  ...['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
].map(range);

/** The only addresses of IPv6 that are assigned to networks. */
const GLOBAL_SIX = range('2000::/3');

/** Whether an address is that of a server on the Internet, not of this machine, a private network or anything special. */
export const isPublic = (address: Address): boolean =>
  (address.bits === 32 || isInRange(address, GLOBAL_SIX)) && !NOT_PUBLIC.some((each) => isInRange(address, each));

/** Whether an address always means this machine. */
export const isLoopback = (address: Address): boolean => LOOPBACK.some((each) => isInRange(address, each));

/** Whether an address stands for all of this machine: connecting to it reaches the loopback. */
export const isUnspecified = ({ value }: Address): boolean => value === 0n;
