import { endianness } from 'node:os';

import { groupsOf, plainAddress } from '../../../core/ip-address.js';
import type { PeerSocket, TcpEnds } from '../contract/peers.js';

/** State of a connection in /proc/net/tcp (enum in net/tcp_states.h). */
const ESTABLISHED = '01';

/** First 96 bits of an IPv4 address in IPv6 (RFC 4291, 2.5.5.2). */
const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255];

/**
 * Returns the ways in which the tables of /proc/net write the ends of the peer's socket, where local and remote are
 * exchanged: `0100007F:C822 0100007F:1F97`. A connection over IPv4 can be that of an IPv6 socket.
 */
export function writtenEnds(
  { localAddress, localPort, remoteAddress, remotePort }: TcpEnds,
  isLittleEndian = endianness() === 'LE',
): readonly string[] {
  const [peer, own] = [bytesOf(remoteAddress), bytesOf(localAddress)];
  const write = (prefix: readonly number[]) =>
    [
      `${writtenBytes([...prefix, ...peer], isLittleEndian)}:${inHex(remotePort, 4)}`,
      `${writtenBytes([...prefix, ...own], isLittleEndian)}:${inHex(localPort, 4)}`,
    ].join(' ');
  return peer.length === 4 ? [write([]), write(MAPPED)] : [write([])];
}

/**
 * Finds the sockets of established connections in a table of /proc/net.
 * @param wanted their ends, as the table writes them
 */
export function findSockets(table: string, wanted: ReadonlySet<string>): Map<string, PeerSocket> {
  const found = new Map<string, PeerSocket>();
  for (let start = table.indexOf('\n') + 1; start > 0; start = table.indexOf('\n', start) + 1) {
    // Most lines are not wanted: only their ends are read.
    const local = table.indexOf(':', start) + 2;
    const end = table.indexOf(' ', table.indexOf(' ', local) + 1);
    const ends = table.slice(local, end);
    if (!wanted.has(ends)) continue;
    const [state, , , , uid = '', , inode = ''] = table.slice(end + 1, end + LINE_REST).split(/\s+/);
    if (state === ESTABLISHED) found.set(ends, { owner: Number(uid), inode: Number(inode) });
  }
  return found;
}

/** Characters after the ends of a line that contain all fields up to the inode; the line is longer. */
const LINE_REST = 100;

const inHex = (value: number, digits: number): string => value.toString(16).toUpperCase().padStart(digits, '0');

function bytesOf(address: string): readonly number[] {
  const plain = plainAddress(address);
  if (!plain.includes(':')) return plain.split('.').map(Number);
  return groupsOf(plain).flatMap((group) => [group >> 8, group & 255]);
}

/** The tables have words of 32 bits in the machine's byte order. */
function writtenBytes(bytes: readonly number[], isLittleEndian: boolean): string {
  const words = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.slice(4 * index, 4 * index + 4));
  return words.flatMap((word) => (isLittleEndian ? word.toReversed() : word).map((byte) => inHex(byte, 2))).join('');
}
