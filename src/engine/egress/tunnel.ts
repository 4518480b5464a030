import type { Socket } from 'node:net';

import { type Destination, hostOf } from '../../core/egress/destination.js';
import { type Opening, readOpening } from '../../core/egress/opening.js';
import { REFUSALS, RefusedConnection } from '../../core/egress/refusal.js';
import { readSome } from './socket-reader.js';

/** Most pieces in which the first message may arrive: ordinary ones come in one to three. */
const MAX_PIECES = 64;

/** Options of `joinSockets`. */
export interface TunnelOptions {
  readonly client: Socket;
  readonly server: Socket;
  readonly destination: Destination;
  /** Whether a name that the client gives to the server is listed for the port too. */
  readonly lists: (destination: Destination) => boolean;
}

/**
 * Lets a client and a server talk, once the first bytes of the client are known not to name another host than the allowed
 * one. The server may begin.
 * @returns `http` when the client speaks plain HTTP: nothing was sent then, and each request has to be judged
 * @throws RefusedConnection, ClientGone
 */
export async function joinSockets(options: TunnelOptions): Promise<'joined' | 'http'> {
  const { client, server, destination } = options;
  server.pipe(client);
  const { opening, bytes } = await readFirst(client);
  if (opening.kind === 'http') {
    server.unpipe(client);
    client.unshift(bytes);
    return 'http';
  }
  judge(opening, options);
  if (opening.kind === 'incomplete') throw new RefusedConnection(REFUSALS.notUnderstood(destination, TOO_MANY_PIECES));
  server.write(bytes);
  client.pipe(server);
  // A server that breaks off must not look like one that has said all.
  server.once('close', () => {
    if (!server.readableEnded) client.destroy();
  });
  return 'joined';
}

const TOO_MANY_PIECES = 'its first message came in too many pieces.';

async function readFirst(client: Socket): Promise<{ opening: Opening; bytes: Buffer }> {
  let bytes = Buffer.alloc(0);
  let opening = readOpening(bytes);
  for (let pieces = 0; opening.kind === 'incomplete' && pieces < MAX_PIECES; pieces++) {
    bytes = Buffer.concat([bytes, await readSome(client)]);
    opening = readOpening(bytes);
  }
  return { opening, bytes };
}

/** A server that serves many names would answer for the one in the handshake: it has to be an allowed one. */
function judge(opening: Opening, { destination, lists }: TunnelOptions): void {
  if (opening.kind === 'broken') throw new RefusedConnection(REFUSALS.notUnderstood(destination, `${opening.why}.`));
  if (opening.kind !== 'tls' || opening.name === undefined) return;
  const host = hostOf(opening.name);
  if (host !== undefined && (host === destination.host || lists({ host, port: destination.port }))) return;
  throw new RefusedConnection(REFUSALS.otherName(destination, 'TLS handshake', opening.name));
}
