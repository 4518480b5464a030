import { once } from 'node:events';
import type { Socket } from 'node:net';

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
