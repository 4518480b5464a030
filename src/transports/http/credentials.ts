import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

import { AdapterError } from '../../core/errors.js';
import type { Access, Authentication } from '../../services/access/access.js';
import { indirectnessOf } from '../access.js';

/** Placeholder key: clients of OpenAI's API require one. */
const NO_KEY = 'local';

/**
 * Authenticates an HTTP request by the token in `Authorization: Bearer`, as OpenAI clients send their key, or in
 * `x-api-key`, as Anthropic clients do. A program of the daemon's own user needs no token, or sends `local` as its key.
 * @throws AdapterError UNAUTHORIZED, with the missing part; RATE_LIMITED after too many wrong tokens
 */
export async function grantFor({ headers, socket }: IncomingMessage, access: Access): Promise<Authentication> {
  const key = bearerOf(headers.authorization) ?? headers['x-api-key'];
  const whyForeign = indirectnessOf(headers) ?? (await access.whyForeign(socket));
  const token = key === NO_KEY ? undefined : key;
  return access.admit({ token, whyForeign, address: addressOf(socket), from: originOf(socket) });
}

/** Origin of a request, for records. */
export const originOf = (socket: Socket): string => `http ${addressOf(socket)} ${socket.remotePort ?? ''}`.trim();

const addressOf = ({ remoteAddress = 'unix' }: Socket): string => remoteAddress;

/**
 * Returns the token of an `Authorization` header.
 * @throws AdapterError UNAUTHORIZED for another scheme
 */
function bearerOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const [, token] = /^bearer +(\S+)\s*$/i.exec(header) ?? [];
  if (token !== undefined) return token;
  throw new AdapterError('UNAUTHORIZED', 'the Authorization header must be: Bearer, a space, and a token');
}
