import { isIP } from 'node:net';
import { z } from 'zod';
import { isLoopbackAddress } from '../../core/ip-address.js';
import { MAX_PORT } from '../../core/protocol/bounds.js';
import { converted, count, described, duration, flag, optionalPath, restarting } from '../fields.js';

const MIB = 1024 * 1024;

/** `scheme://host[:port]`, as sent by browsers: no path, no trailing slash. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/*]+$/i;

/** A name or address, without a port. */
const HOST_NAME = /^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])$/i;
const hostsError = 'must be a list of host names, without ports';

const originsError = 'must be "*" or origins such as "https://example.org:8443", without a path';
const origin = z.string({ error: originsError }).regex(ORIGIN, { error: originsError });

const tls = z
  .strictObject({
    cert: optionalPath('no TLS', 'The certificate with its chain, in PEM.'),
    key: optionalPath('no TLS', 'The private key of the certificate, in PEM.'),
  })
  .superRefine(({ cert, key }, context) => {
    if ((cert === undefined) === (key === undefined)) return;
    const [there, missing] = cert === undefined ? ['key', 'cert'] : ['cert', 'key'];
    context.addIssue({ code: 'custom', path: [there], message: `needs ${missing} beside it` });
  });

/** `socketio`: port and Unix socket, and the clients that may connect. */
export const socketioSection = restarting({
  host: described(
    z
      .string({ error: 'must be an address' })
      .refine((host) => isIP(host) !== 0 || host.toLowerCase() === 'localhost', {
        error: 'must be an IP address or localhost',
      })
      .default('127.0.0.1'),
    {
      text: 'The address to listen on. One that other machines reach needs `tls` or `insecure_transport`.',
      fallback: '`127.0.0.1`',
    },
  ),
  port: count({ unit: 'port', min: 0, max: MAX_PORT }, 8087, 'The port to listen on; 0 takes any free one.'),
  unix_socket: optionalPath(
    'none',
    'A Unix socket to listen on besides the port. Its folder is accessible to this user only, and is made so.',
  ),
  cors_allowed_origins: converted(
    z
      .union([z.literal('*'), origin, z.array(z.union([z.literal('*'), origin], { error: originsError }))], {
        error: originsError,
      })
      .default('*'),
    {
      text: 'The web origins whose pages may connect, with a token: one, a list, or `*` for any.',
      fallback: '`*`',
    },
    (written): '*' | readonly string[] => {
      const origins = [written].flat();
      return origins.includes('*') ? '*' : origins;
    },
  ),
  allowed_hosts: converted(
    z.array(z.string({ error: hostsError }).regex(HOST_NAME, { error: hostsError }), { error: hostsError }).default([]),
    {
      text: 'Names by which clients may address the daemon besides those of the loopback, such as that of a proxy.',
      fallback: 'none',
    },
    (names): readonly string[] => names.map((name) => name.toLowerCase()),
  ),
  tls: tls.prefault({}),
  insecure_transport: flag(
    false,
    'Whether other machines may connect without TLS. Tokens can then be read on the way.',
  ),
  max_message_bytes: count(
    { unit: 'bytes', min: 1024, max: 64 * MIB },
    MIB,
    'The largest message that a client may send, a command with its standard input included.',
  ),
  max_connections: count(
    { unit: 'connections', min: 1, max: 65_535 },
    1024,
    'Clients that may be connected at a time.',
  ),
  max_connections_per_peer: count(
    { unit: 'connections', min: 1, max: 65_535 },
    512,
    'Connections, and clients, that another user of this machine or another machine may have at a time.',
  ),
  max_unfinished_per_peer: count(
    { unit: 'connections', min: 1, max: 65_535 },
    50,
    'Those of them that may have shown no token yet. All peers together may have a quarter of `max_connections`.',
  ),
  handshake_timeout: duration(
    'seconds',
    5,
    'How long a client may take to show its token, and to send the headers of a request, before its connection ends.',
  ),
  ping_interval: duration('seconds', 10, 'Interval of the heartbeat to each client.'),
  ping_timeout: duration('seconds', 10, 'How long a client may take to answer it before the connection ends.'),
});

/** Whether a listening address is reachable from this machine only. */
export const isLoopback = (host: string): boolean =>
  isIP(host) === 0 ? host.toLowerCase() === 'localhost' : isLoopbackAddress(host);
