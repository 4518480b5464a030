import { type ForwardedHeaders, type Headers, HOP_BY_HOP, keep, namedBy } from '../previews/http-headers.js';

/** Names, on the port for nodes, for which client a request is made: what a worker has given to the gateway. */
export const TICKET_HEADER = 'x-shell-adapter-ticket';

/** Headers that a gateway has dealt with: tokens of its clients do not leave it, and it has answered `Expect`. */
const OF_THE_GATEWAY = ['authorization', 'x-api-key', 'expect', TICKET_HEADER];

const UPGRADE = { connection: 'Upgrade', upgrade: 'websocket' };

/** The headers with which a request of a client goes on to its worker. A body keeps the framing that it came with. */
export function passedRequestHeaders(headers: Headers, isUpgrade = false): ForwardedHeaders {
  const { trailer, 'transfer-encoding': framing } = headers;
  return {
    ...withoutHops(headers, OF_THE_GATEWAY),
    ...(framing !== undefined && !isUpgrade && { 'transfer-encoding': 'chunked' }),
    ...(typeof trailer === 'string' && framing !== undefined && { trailer }),
    ...(isUpgrade && UPGRADE),
  };
}

/** The headers with which the answer of a worker goes to the client. */
export const passedAnswerHeaders = (headers: Headers, isUpgrade = false): ForwardedHeaders => ({
  ...withoutHops(headers, []),
  ...(isUpgrade && UPGRADE),
});

function withoutHops(headers: Headers, others: readonly string[]): ForwardedHeaders {
  const dropped = new Set([...HOP_BY_HOP, ...namedBy(headers), ...others]);
  return keep(headers, (name) => !dropped.has(name));
}
