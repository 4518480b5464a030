import { readFile } from 'node:fs/promises';
import { isIPv4, isIPv6 } from 'node:net';
import { endianness } from 'node:os';

/** A TCP connection as the side sees it that was connected to. Undefined where the socket has gone. */
export interface Peer {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

/** State of a connection in /proc/net/tcp (enum in net/tcp_states.h). */
const ESTABLISHED = '01';

/** Who has no number in this user namespace shows as this one (user_namespaces(7)). */
const OVERFLOW_UID = 65_534;

const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];

/** A socket as the kernel's tables have it. */
export interface PeerSocket {
  /** Number of the user that it belongs to. */
  readonly owner: number;
  /** Its number, by which the descriptors that lead to it are known. */
  readonly inode: number;
}

/**
 * The socket that a loopback connection to this process comes from, by the kernel's own tables of connections.
 * Undefined where that cannot be told: another machine, a connection that has ended, a user without a number here.
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
  // The peer's end is its own line: there, what is remote here is local.
  const ends = { from: `${plain(remoteAddress)} ${remotePort}`, to: `${plain(localAddress)} ${localPort}` };
  const socket = texts.map((text) => findSocket(text, ends)).find((found) => found !== undefined);
  return socket?.owner === OVERFLOW_UID ? undefined : socket;
}

/** Whether an address is of this machine's loopback, IPv4 in IPv6 included. */
function isLoopback(address: string): boolean {
  return address === '::1' || /^127\./.test(plain(address));
}

/** The socket of the established connection between two ends, each `ADDRESS PORT`, in a table of /proc/net. */
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

/** `0100007F:1F97` as `127.0.0.1 8087`: words of 32 bits as the machine has them in memory. */
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

/** One spelling for each address: IPv4 in IPv6 as IPv4, IPv6 compressed as URLs have it. */
function plain(address: string): string {
  if (isIPv4(address) || !isIPv6(address)) return address;
  const compressed = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [, high = '', low = ''] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(compressed) ?? [];
  if (high === '') return compressed;
  const numbers = [high, low].map((group) => Number.parseInt(group, 16));
  return numbers.flatMap((number) => [number >> 8, number & 255]).join('.');
}
