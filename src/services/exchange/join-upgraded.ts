import { Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';

import type { ForwardedHeaders } from '../../core/previews/http-headers.js';
import type { HttpAnswer } from './http-exchange.js';

/** A connection whose client has sent an upgrade, and what it has sent after that. */
export interface Upgrading {
  readonly client: Duplex;
  readonly head: Buffer;
}

/**
 * Answers an upgrade, and joins the two connections: each is read as fast as the other one takes it, and ends with it.
 * @param answer with the headers that the client gets; without an upgrade its body is sent
 */
export function joinUpgraded(
  { response, headers, upgraded }: HttpAnswer & { readonly headers: ForwardedHeaders },
  { client, head }: Upgrading,
): void {
  const { statusCode = 502, statusMessage = '' } = response;
  const shown = upgraded ? headers : { ...headers, connection: 'close' };
  client.write(headOf(`HTTP/1.1 ${statusCode} ${statusMessage}`, shown), 'latin1');
  const ignore = () => undefined;
  if (!upgraded) {
    client.resume();
    pipeline(response, client, ignore);
    return;
  }
  const { socket } = upgraded;
  // ECONNRESET: 'close' follows. The socket is closed when the client is.
  socket.on('error', ignore);
  socket.once('close', () => {
    // Sends what the program has sent before.
    if (client instanceof Socket) client.destroySoon();
    else client.destroy();
  });
  client.write(upgraded.head);
  socket.write(head);
  socket.pipe(client);
  client.pipe(socket);
}

function headOf(statusLine: string, headers: ForwardedHeaders): string {
  const lines = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}`),
  );
  return `${[statusLine, ...lines].join('\r\n')}\r\n\r\n`;
}
