import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Longest time in which a transfer does not move, in milliseconds. */
const STALLED_MS = 30_000;

/**
 * Closes the connection of a transfer when nothing of it moves for half a minute: the client has stopped, and the file is
 * not held for it.
 * @param moved bytes so far
 * @returns ends the watch
 */
export function destroyIfStalled(
  { socket }: Pick<IncomingMessage | ServerResponse, 'socket'>,
  moved: (socket: Socket) => number,
): () => void {
  if (!socket) return () => undefined;
  let before = moved(socket);
  const timer = setInterval(() => {
    const now = moved(socket);
    if (now === before) socket.destroy();
    before = now;
  }, STALLED_MS);
  return () => {
    clearInterval(timer);
  };
}
