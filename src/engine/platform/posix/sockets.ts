import { execFile, type ExecFileException } from 'node:child_process';
import { promisify } from 'node:util';

import { AdapterError } from '../../../core/errors.js';
import { plainAddress } from '../../../core/ip-address.js';
import type { Listening, ListeningPort, PeerLook, PeerSocket, TcpEnds } from '../platform.js';

const execute = promisify(execFile);

/** Where programs such as lsof(8) are, on Linux, macOS and the BSDs. */
export const SYSTEM_PATH = '/usr/bin:/bin:/usr/sbin:/sbin';
/** Most time for a program, in milliseconds: lsof(8) may wait for a network file system. */
const TIMEOUT_MS = 10_000;
const MAX_LIST_BYTES = 16 * 1024 * 1024;

/**
 * Runs a program of the system; returns what it has printed, also when it ends with 1: lsof(8) does when a process has
 * ended, or nothing was found.
 * @throws Error with the code ENOENT when it is not installed, and for other failures
 */
async function runProgram(program: string, args: readonly string[]): Promise<string> {
  const options = { env: { PATH: SYSTEM_PATH, LC_ALL: 'C' }, timeout: TIMEOUT_MS, maxBuffer: MAX_LIST_BYTES };
  try {
    return (await execute(program, args, options)).stdout;
  } catch (error) {
    const { code, stdout = '' } = error as ExecFileException;
    if (code === 1) return stdout;
    throw error;
  }
}

/** Whether an error of `runProgram` says that the program is not installed. */
const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Fields of lsof(8) that `parseOpenSockets` reads: process, descriptor, type, device and name. */
const SOCKET_FIELDS = 'pftdn';

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
const CONNECTION_FIELDS = 'pufn';

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

/** A look runs a program, which takes some tens of milliseconds. */
const LOOK_MS = 500;
/** No names of hosts and ports, no warnings, and both conditions at once. */
const ONLY_LISTENING = ['-nPw', '-a', '-iTCP', '-sTCP:LISTEN', `-F${SOCKET_FIELDS}`];
/** There are no network namespaces. */
const MACHINE = 'machine';

/** Ports by lsof(8) and netstat(1). Sockets of other users are shown by netstat(1) alone. */
export const posixListening: Listening = {
  lookMs: LOOK_MS,
  networkOf: () => MACHINE,
  portsOf: async (pids) => {
    const text = pids.length === 0 ? '' : await run('lsof', [...ONLY_LISTENING, '-p', pids.join(',')]);
    return parseOpenSockets(text).sort((a, b) => a.port - b.port || a.pid - b.pid);
  },
  isTaken: async (port) => parseTakenPorts(await run('netstat', ['-an'])).has(port),
};

async function run(program: string, args: readonly string[]): Promise<string> {
  try {
    return await runProgram(program, args);
  } catch (cause) {
    const why = isMissing(cause)
      ? `is not installed in ${SYSTEM_PATH}: install it`
      : `failed: ${(cause as Error).message}`;
    const message = `the platform posix finds ports by ${program}, which ${why}`;
    throw new AdapterError('PORT_UNAVAILABLE', message, { cause, details: { program } });
  }
}

/** Each runs a program. */
const MAX_LOOKS = 2;

/** Peers by lsof(8), which shows a user who is not root the connections of that user alone. */
export const posixPeers: PeerLook = { maxLooks: MAX_LOOKS, findAll };

async function findAll(asked: readonly TcpEnds[]): Promise<readonly (PeerSocket | undefined)[]> {
  const owners = parseConnections(await listConnections(asked));
  return asked.map((ends) => {
    const owner = owners.get(connectionOf(ends));
    return owner === undefined ? undefined : { owner, inode: undefined };
  });
}

async function listConnections(asked: readonly TcpEnds[]): Promise<string> {
  const ports = [...new Set(asked.map(({ remotePort }) => remotePort))].join(',');
  try {
    return await runProgram('lsof', ['-nPw', `-iTCP:${ports}`, '-sTCP:ESTABLISHED', `-F${CONNECTION_FIELDS}`]);
  } catch (error) {
    // Without it, every connection over TCP needs a token: `doctor` says so.
    if (isMissing(error)) return '';
    throw error;
  }
}
