import { plainAddress } from '../../../core/ip-address.js';
import type { ListeningPort } from '../contract/listening.js';
import type { TcpEnds } from '../contract/peers.js';

/** Fields of lsof(8) that `parseOpenSockets` reads: process, descriptor, type, device and name. */
export const SOCKET_FIELDS = 'pftdn';

/** Addresses that mean all of them, by the type of the socket. */
const ANY: Readonly<Record<string, string>> = { IPv4: '0.0.0.0', IPv6: '::' };

/** Parses the output of lsof(8) with `SOCKET_FIELDS`. */
export function parseOpenSockets(text: string): ListeningPort[] {
  const found = new Map<string, ListeningPort>();
  for (const { p: pid, d: device, t: type = '', n: name } of openFilesIn(text)) {
    const [, host = '', port] = /^(.*):(\d+)$/.exec(name) ?? [];
    const key = device ?? name;
    if (port === undefined || found.has(key)) continue;
    const address = host === '*' ? (ANY[type] ?? host) : host.replace(/^\[(.*)\]$/, '$1');
    found.set(key, { port: Number(port), address, pid: Number(pid) });
  }
  return [...found.values()];
}

/** An open file with its fields by their letters: of its process `p` and user `u`, descriptor `f`, device `d`, type `t`. */
interface OpenFile extends Readonly<Partial<Record<'p' | 'u' | 'f' | 'd' | 't', string>>> {
  readonly n: string;
}

/** Reads the output of lsof(8): a line for each field, which begins with its letter; the name `n` is the last of a file. */
function* openFilesIn(text: string): Generator<OpenFile> {
  let fields: Partial<Record<string, string>> = {};
  for (const line of text.split('\n')) {
    const letter = line.charAt(0);
    if (letter === 'p') fields = {};
    if (letter === 'f') fields = { p: fields['p'], u: fields['u'] };
    fields[letter] = line.slice(1);
    if (letter === 'n') yield { ...fields, n: line.slice(1) };
  }
}

/** A line of netstat(1) about a socket that listens: ports follow a colon on Linux, and a dot on macOS and the BSDs. */
const LISTENS = /^tcp\S*\s+\d+\s+\d+\s+\S+[.:](\d+)\s+\S+\s+LISTEN\b/gm;

/** Parses the output of netstat(1) with the option `-an`: ports on which anything listens. */
export const parseTakenPorts = (text: string): ReadonlySet<number> =>
  new Set(Array.from(text.matchAll(LISTENS), ([, port]) => Number(port)));

/** Fields of lsof(8) that `parseConnections` reads: process, its user, descriptor and name. */
export const CONNECTION_FIELDS = 'pufn';

const CONNECTION = /^\[?([\d.:a-f]+)\]?:(\d+)->\[?([\d.:a-f]+)\]?:(\d+)$/;

/** Names a connection, as its peer sees it. */
export const connectionOf = ({ localAddress, localPort, remoteAddress, remotePort }: TcpEnds): string =>
  [plainAddress(remoteAddress), remotePort, plainAddress(localAddress), localPort].join(' ');

/** Parses the output of lsof(8) with `CONNECTION_FIELDS`: the uid of a process with each connection, by `connectionOf`. */
export function parseConnections(text: string): ReadonlyMap<string, number> {
  const owners = new Map<string, number>();
  for (const { u: user, n: name } of openFilesIn(text)) {
    const [, remoteAddress, remotePort, localAddress, localPort] = CONNECTION.exec(name) ?? [];
    if (remoteAddress === undefined || localAddress === undefined) continue;
    const ends = { remoteAddress, localAddress, remotePort: Number(remotePort), localPort: Number(localPort) };
    const owner = user === undefined ? NaN : Number(user);
    const connection = connectionOf(ends);
    // Processes of several users may share it: then it is of none.
    owners.set(connection, (owners.get(connection) ?? owner) === owner ? owner : NaN);
  }
  return owners;
}
