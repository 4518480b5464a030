import type { IncomingMessage } from 'node:http';

import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import { z } from 'zod';

import { AdapterError } from '../../core/errors.js';
import type { Access } from '../../services/access/access.js';
import type { Admission } from '../../services/access/admission.js';
import type { Refusals } from '../../services/access/refusals.js';
import { indirectnessOf, isOfOwnPage } from '../access.js';
import { bearerOf, originOf, type RequestAuthentication } from '../http/authentication.js';

/** Dependencies of signing in and out. */
export interface SessionOptions {
  readonly access: Access;
  readonly admission: Pick<Admission, 'finish'>;
  readonly authentication: RequestAuthentication;
  readonly refusals: Refusals;
}

/** Largest body, in bytes: a code has 43 characters. */
const MAX_BODY_BYTES = 1024;

const signInBody = z.strictObject({ code: z.string() });

/**
 * Adds `POST /session { code }`, which signs a page in by a one-time link, `DELETE /session`, which signs it out, and `GET
 * /session`, which says whether a page needs a token. Only the daemon's own page may use the first two.
 */
export function addSession(routes: FastifyInstance, options: SessionOptions): void {
  const { access, admission, authentication, refusals } = options;
  const onRequest: onRequestHookHandler = ({ raw }, _reply, done) => {
    if (isSentByOwnPage(raw)) {
      done();
      return;
    }
    const error = new AdapterError('FORBIDDEN', NOT_OWN_PAGE);
    refusals.note(raw.socket.remoteAddress ?? 'unix', originOf(raw.socket), error.toBody());
    done(error);
  };
  routes.post('/session', { onRequest, bodyLimit: MAX_BODY_BYTES }, async ({ raw, body }, reply) => {
    const { data } = signInBody.safeParse(body);
    if (!data) throw new AdapterError('INVALID_REQUEST', 'the body must be JSON: { "code": "…" }, from a link');
    const { headers, socket } = raw;
    const origin = await access.originOf(socket, indirectnessOf(headers));
    const { secret, principal, expiresAt } = access.signIn({ token: data.code, origin, from: originOf(socket) });
    admission.finish(socket);
    const { name, role } = principal;
    return reply
      .header('cache-control', 'no-store')
      .send({ token: secret, name, role, expires_at: expiresAt.toISOString() });
  });
  routes.get('/session', async ({ raw: { headers, socket } }, reply) => {
    const { whyForeign } = await access.originOf(socket, indirectnessOf(headers, !access.takesPages));
    return reply.header('cache-control', 'no-store').send({ token_needed: whyForeign !== undefined });
  });
  routes.delete('/session', { onRequest: [onRequest, authentication.authenticate] }, async ({ headers }, reply) => {
    if (!access.signOut(bearerOf(headers.authorization) ?? '')) throw new AdapterError('INVALID_REQUEST', NO_SIGN_IN);
    return reply.code(204).send();
  });
}

/** Browsers send `Origin` with these methods, also from a page of the same origin. */
const isSentByOwnPage = ({ headers }: IncomingMessage): boolean => headers.origin !== undefined && isOfOwnPage(headers);

const NOT_OWN_PAGE = 'only the dashboard itself may use /session: the Origin must be that of the daemon';
const NO_SIGN_IN = 'only the sign-in of a page can be ended here; `shell-adapter token revoke` ends other tokens';
