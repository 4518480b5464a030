import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { endianness } from 'node:os';

import { listeningIn, type ListeningSocket } from '../../../core/network/listening-table.js';
import type { Listening, ListeningPort } from '../contract/listening.js';

/** A look reads two files of the kernel. */
const LOOK_MS = 50;

const TABLES = ['tcp', 'tcp6'] as const;
const isLittleEndian = endianness() === 'LE';

/** The network namespace of a process. */
function networkOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    // ENOENT, EACCES.
    return undefined;
  }
}

/** The sockets that listen for TCP connections in the network namespace of a process. */
function listeningSockets(pid: number): readonly ListeningSocket[] {
  return TABLES.flatMap((table) => {
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
    const network = networkOf(pid);
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
export function socketsOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const [, inode] = SOCKET.exec(linkOf(`/proc/${pid}/fd/${fd}`)) ?? [];
      return inode === undefined ? [] : [Number(inode)];
    });
  } catch {
    // EACCES: it belongs to another user. ENOENT: it has ended.
    return [];
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // ENOENT: it was closed meanwhile.
    return '';
  }
}

/** Ports by the tables of /proc/net: proc(5). */
export const linuxListening: Listening = {
  lookMs: LOOK_MS,
  networkOf,
  portsOf: (pids) => Promise.resolve(portsOf(pids)),
  isTaken: (port, pid) => Promise.resolve(listeningSockets(pid).some((socket) => socket.port === port)),
};
