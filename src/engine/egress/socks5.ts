import { once } from 'node:events';
import type { Socket } from 'node:net';

import { type Destination, hostOf, REFUSALS, RefusedConnection } from '../../core/egress.js';

/** A client has closed its connection before it has said what it wants. */
export class ClientGone extends Error {}

/**
 * Reads exactly this many bytes of a paused socket.
 * @throws ClientGone when it ends before
 */
export async function readBytes(socket: Socket, count: number): Promise<Buffer> {
  for (;;) {
    const bytes = socket.read(count) as Buffer | null;
    if (bytes?.length === count) return bytes;
    await readable(socket);
  }
}

/**
 * Reads what has arrived on a paused socket, at least one byte.
 * @throws ClientGone when it ends before
 */
export async function readSome(socket: Socket): Promise<Buffer> {
  for (;;) {
    const bytes = socket.read() as Buffer | null;
    if (bytes) return bytes;
    await readable(socket);
  }
}

async function readable(socket: Socket): Promise<void> {
  if (socket.destroyed || socket.readableEnded) throw new ClientGone();
  const over = new AbortController();
  const stop = () => {
    over.abort();
  };
  socket.once('close', stop).once('end', stop);
  try {
    await once(socket, 'readable', { signal: over.signal });
  } catch (cause) {
    // ECONNRESET, or it was closed, by its time-out for example.
    throw new ClientGone('the client has gone', { cause });
  } finally {
    socket.removeListener('close', stop).removeListener('end', stop);
  }
}

/** First byte of every message of SOCKS version 5 (RFC 1928). */
export const SOCKS_VERSION = 5;

const NO_AUTHENTICATION = 0;
const NO_METHOD = 0xff;
const CONNECT = 1;

/** Answers of a server, by what they mean. */
const SOCKS_REPLIES = {
  connected: 0,
  refused: 2,
  unreachable: 4,
  unknown_command: 7,
  unknown_address: 8,
} as const;

/** Sends an answer. The address that is bound is of no use to anybody. */
export function replySocks(client: Socket, reply: keyof typeof SOCKS_REPLIES): void {
  client.write(Buffer.from([SOCKS_VERSION, SOCKS_REPLIES[reply], 0, 1, 0, 0, 0, 0, 0, 0]));
}

/**
 * Negotiates, and reads where a client wants to connect to.
 * @throws RefusedConnection when it wants anything else; it has its answer then
 * @throws ClientGone
 */
export async function readSocksRequest(client: Socket): Promise<Destination> {
  const [, count = 0] = await readBytes(client, 2);
  const methods = await readBytes(client, count);
  const method = methods.includes(NO_AUTHENTICATION) ? NO_AUTHENTICATION : NO_METHOD;
  client.write(Buffer.from([SOCKS_VERSION, method]));
  if (method === NO_METHOD) throw notUnderstood('its client insists on a password, which the proxy does not have.');
  const [, command, , kind = 0] = await readBytes(client, 4);
  const text = await readHost(client, kind);
  const port = (await readBytes(client, 2)).readUInt16BE();
  if (command !== CONNECT) {
    replySocks(client, 'unknown_command');
    throw notUnderstood('SOCKS is there to connect; listening and UDP are not possible.');
  }
  const host = text === undefined ? undefined : hostOf(text);
  if (host === undefined || port === 0) {
    replySocks(client, 'unknown_address');
    throw notUnderstood(`${text ?? 'an address of unknown kind'} is not a host with a port.`);
  }
  return { host, port };
}

async function readHost(client: Socket, kind: number): Promise<string | undefined> {
  if (kind === 1) return [...(await readBytes(client, 4))].join('.');
  if (kind === 4) return (await readBytes(client, 16)).toString('hex').replace(/.{4}(?=.)/g, '$&:');
  if (kind !== 3) return undefined;
  const [length = 0] = await readBytes(client, 1);
  return length === 0 ? '' : (await readBytes(client, length)).toString('latin1');
}

const notUnderstood = (why: string): RefusedConnection => new RefusedConnection(REFUSALS.notUnderstood(undefined, why));
