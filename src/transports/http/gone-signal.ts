import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Aborted when the client goes before it has the whole answer. It is made to go when what it was let in with ends.
 * @param ended see `Grant`
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
  // An answer behind another one on the same connection never hears of its end; and it may have ended before anybody listens.
  socket.once('close', note);
  if (socket.destroyed) note();
  return gone.signal;
}
