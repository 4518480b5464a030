import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Returns a signal that is aborted when the client disconnects before the whole answer was sent. The connection is
 * closed when its authentication ends.
 * @param ended see `Authentication`
 */
export function goneSignal(
  { raw: { socket } }: FastifyRequest,
  { raw }: FastifyReply,
  ended: AbortSignal | undefined,
): AbortSignal {
  const gone = new AbortController();
  const end = () => {
    socket.destroy();
  };
  const note = () => {
    socket.off('close', note);
    ended?.removeEventListener('abort', end);
    if (!raw.writableFinished) gone.abort();
  };
  ended?.addEventListener('abort', end, { once: true });
  if (ended?.aborted) end();
  raw.once('close', note);
  // A pipelined answer gets no close event of its own, and the connection may have been closed before the listener is
  // added.
  socket.once('close', note);
  if (socket.destroyed) note();
  return gone.signal;
}

/** Resolves when the whole answer was sent, or the connection is closed. */
export const whenOver = ({ raw: { socket } }: FastifyRequest, { raw }: FastifyReply): Promise<void> =>
  new Promise((resolve) => {
    const note = () => {
      socket.off('close', note);
      resolve();
    };
    raw.once('close', note);
    socket.once('close', note);
    if (socket.destroyed) note();
  });
