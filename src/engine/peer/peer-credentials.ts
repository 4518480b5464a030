import { readFile } from 'node:fs/promises';
import { isIPv4, isIPv6 } from 'node:net';
import { endianness } from 'node:os';

/** A TCP connection from the perspective of the server. Undefined where the socket is closed. */
export interface Peer {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

/** State of a connection in /proc/net/tcp (enum in net/tcp_states.h). */
const ESTABLISHED = '01';

/** Uid of users without a mapping in this user namespace (user_namespaces(7)). */
const OVERFLOW_UID = 65_534;

const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];

/** A socket in the kernel's tables. */
export interface PeerSocket {
  /** Uid of its owner. */
  readonly owner: number;
  /** Inode number, which identifies descriptors of the socket. */
  readonly inode: number;
}

/**
 * Returns the peer's socket of a loopback connection to this process, from the kernel's connection tables. Undefined
 * where that is unknown: another machine, a connection that has ended, a user without a mapping here.
 */
export async function socketOfPeer({
  remoteAddress,
  remotePort,
  localAddress,
  localPort,
}: Peer): Promise<PeerSocket | undefined> {
  if (remoteAddress === undefined || localAddress === undefined) return undefined;
  if (remotePort === undefined || localPort === undefined || !isLoopback(remoteAddress)) return undefined;
  const texts = await Promise.all(TABLES.map((file) => readFile(file, 'latin1').catch(() => '')));
  // The peer's end has its own line: there, remote and local are exchanged.
  const ends = { from: `${plain(remoteAddress)} ${remotePort}`, to: `${plain(localAddress)} ${localPort}` };
  const socket = texts.map((text) => findSocket(text, ends)).find((found) => found !== undefined);
  return socket?.owner === OVERFLOW_UID ? undefined : socket;
}

/** Whether an address is a loopback address, including IPv4 in IPv6. */
function isLoopback(address: string): boolean {
  return address === '::1' || /^127\./.test(plain(address));
}

/** Returns the socket of the established connection between two ends, each `ADDRESS PORT`, in a table of /proc/net. */
export function findSocket(
  table: string,
  { from, to }: { readonly from: string; readonly to: string },
  isLittleEndian = endianness() === 'LE',
): PeerSocket | undefined {
  for (const line of table.split('\n').slice(1)) {
    const [, local = '', remote = '', state, , , , uid = '', , inode = ''] = line.trim().split(/\s+/);
    if (state !== ESTABLISHED) continue;
    if (readEnd(local, isLittleEndian) === from && readEnd(remote, isLittleEndian) === to) {
      return { owner: Number(uid), inode: Number(inode) };
    }
  }
  return undefined;
}

/** Converts `0100007F:1F97` to `127.0.0.1 8087`: 32-bit words in the machine's byte order. */
function readEnd(end: string, isLittleEndian: boolean): string {
  const [address = '', port = ''] = end.split(':');
  const words = address.match(/.{8}/g) ?? [];
  const bytes = words.flatMap((word) => {
    const inOrder = (word.match(/../g) ?? []).map((digits) => Number.parseInt(digits, 16));
    return isLittleEndian ? inOrder.reverse() : inOrder;
  });
  return `${bytes.length === 4 ? bytes.join('.') : plain(toIPv6(bytes))} ${Number.parseInt(port, 16)}`;
}

const toIPv6 = (bytes: readonly number[]): string =>
  Array.from({ length: 8 }, (_, index) =>
    ((bytes[2 * index] ?? 0) * 256 + (bytes[2 * index + 1] ?? 0)).toString(16),
  ).join(':');

/** Normalises an address: IPv4 in IPv6 as IPv4, IPv6 compressed as in URLs. */
function plain(address: string): string {
  if (isIPv4(address) || !isIPv6(address)) return address;
  const compressed = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [, high = '', low = ''] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(compressed) ?? [];
  if (high === '') return compressed;
  const numbers = [high, low].map((group) => Number.parseInt(group, 16));
  return numbers.flatMap((number) => [number >> 8, number & 255]).join('.');
}
