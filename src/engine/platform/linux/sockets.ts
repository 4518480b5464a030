import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { endianness } from 'node:os';

import { groupsOf, plainAddress } from '../../../core/ip-address.js';
import { listeningIn, type ListeningSocket } from '../../../core/listening-table.js';
import type { Listening, ListeningPort, PeerLook, PeerSocket, TcpEnds } from '../platform.js';
import { descriptorsOf, descriptorTarget, namespaceOf } from './process-table.js';

/** A look reads two files of the kernel. */
const LOOK_MS = 50;

const LISTENING_TABLES = ['tcp', 'tcp6'] as const;
const isLittleEndian = endianness() === 'LE';

/** The sockets that listen for TCP connections in the network namespace of a process. */
function listeningSockets(pid: number): readonly ListeningSocket[] {
  return LISTENING_TABLES.flatMap((table) => {
    try {
      return listeningIn(readFileSync(`/proc/${pid}/net/${table}`, 'utf8'), isLittleEndian);
    } catch {
      // ENOENT: it has ended, or there is no IPv6.
      return [];
    }
  });
}

function portsOf(pids: readonly number[]): readonly ListeningPort[] {
  const tables = new Map<string, ReadonlyMap<number, ListeningSocket>>();
  const found = new Map<string, ListeningPort>();
  for (const pid of pids) {
    const network = namespaceOf(pid, 'net');
    if (network === undefined) continue;
    let sockets = tables.get(network);
    if (!sockets) {
      sockets = new Map(listeningSockets(pid).map((socket) => [socket.inode, socket]));
      tables.set(network, sockets);
    }
    for (const inode of sockets.size > 0 ? socketsOf(pid) : []) {
      const socket = sockets.get(inode);
      const key = `${network} ${inode}`;
      if (socket && !found.has(key)) found.set(key, { port: socket.port, address: socket.address, pid });
    }
  }
  return [...found.values()].sort((a, b) => a.port - b.port || a.pid - b.pid);
}

const SOCKET = /^socket:\[(\d+)\]$/;

/** Inodes of the sockets that a process has open. */
export const socketsOf = (pid: number): readonly number[] =>
  descriptorsOf(pid).flatMap((fd) => socketIn(descriptorTarget(pid, fd)) ?? []);

/** Inode of the socket to which a descriptor refers; undefined for anything else. */
export function socketIn(target = ''): number | undefined {
  const inode = SOCKET.exec(target)?.[1];
  return inode === undefined ? undefined : Number(inode);
}

/** Ports by the tables of /proc/net: proc(5). */
export const linuxListening: Listening = {
  lookMs: LOOK_MS,
  networkOf: (pid) => namespaceOf(pid, 'net'),
  portsOf: (pids) => Promise.resolve(portsOf(pids)),
  isTaken: (port, pid) => Promise.resolve(listeningSockets(pid).some((socket) => socket.port === port)),
};

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

/** The kernel gives a table in pages of 4 KiB, and a line can be missed when others come and go between two of them. */
const MAX_LOOKS = 6;

/**
 * The kernel's tables of all connections, with the number of digits of their addresses. The kernel walks through all of its
 * connections for each of them, which takes a millisecond or more, and nearly all programs are in the first.
 */
const TABLES = [
  { file: '/proc/self/net/tcp', digits: 8 },
  { file: '/proc/self/net/tcp6', digits: 32 },
] as const;

/** Bytes that are read at once: more than a page. */
const CHUNK_BYTES = 16 * 1024;

/** Peers by the kernel's tables of all connections. */
export const linuxPeers: PeerLook = { maxLooks: MAX_LOOKS, findAll };

async function findAll(asked: readonly TcpEnds[]): Promise<readonly (PeerSocket | undefined)[]> {
  const written = asked.map((ends) => writtenEnds(ends));
  const found = new Map<string, PeerSocket>();
  for (const { file, digits } of TABLES) {
    const unknown = written.filter((ways) => !ways.some((way) => found.has(way))).flat();
    const wanted = new Set(unknown.filter((way) => way.indexOf(':') === digits));
    if (wanted.size > 0) await search(file, wanted, found);
  }
  return written.map((ways) => ways.map((way) => found.get(way)).find((socket) => socket !== undefined));
}

/** Adds the sockets of a table that are wanted to those that are found. Reads no further than the last of them. */
async function search(file: string, wanted: Set<string>, found: Map<string, PeerSocket>): Promise<void> {
  try {
    await using table = await open(file);
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    let rest = '';
    while (wanted.size > 0) {
      const { bytesRead } = await table.read(buffer, 0, CHUNK_BYTES);
      if (bytesRead === 0) return;
      const text = rest + buffer.toString('latin1', 0, bytesRead);
      const end = text.lastIndexOf('\n') + 1;
      for (const [ends, socket] of findSockets(text.slice(0, end), wanted)) {
        found.set(ends, socket);
        wanted.delete(ends);
      }
      // From the end of a line on, as a table has its lines after that of its head.
      rest = text.slice(Math.max(0, end - 1));
    }
  } catch {
    // ENOENT: a kernel without IPv6. EMFILE: the peer stays unknown, and needs a token.
  }
}
