import type { FastifyReply, FastifyRequest } from 'fastify';

/** Aborted when the client goes before it has the whole answer. */
export function goneSignal({ raw: { socket } }: FastifyRequest, { raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const note = () => {
    socket.off('close', note);
    if (!raw.writableFinished) gone.abort();
  };
  raw.once('close', note);
  // An answer behind another one on the same connection never hears of its end; and it may have ended before anybody listens.
  socket.once('close', note);
  if (socket.destroyed) note();
  return gone.signal;
}
