import type { Socket } from 'node:net';

import { type Destination, hostOf } from '../../core/egress/destination.js';
import { REFUSALS, RefusedConnection } from '../../core/egress/refusal.js';
import { readBytes } from './socket-reader.js';

/** First byte of every message of SOCKS version 5 (RFC 1928). */
export const SOCKS_VERSION = 5;

const NO_AUTHENTICATION = 0;
const NO_METHOD = 0xff;
const CONNECT = 1;

/** Answers of a server, by what they mean. */
export const SOCKS_REPLIES = {
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
