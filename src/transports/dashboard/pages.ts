import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { chooseCoding } from './encoding.js';
import type { DashboardFiles, ServedFile } from './files.js';
import { SECURITY_HEADERS } from './response-headers.js';

/** Names of assets contain a hash of their content: a browser may keep them for a year. */
const FOR_EVER = 'public, max-age=31536000, immutable';
/** The page names its assets: a browser asks each time whether it has changed. */
const REVALIDATED = 'no-cache';

const NOT_BUILT =
  'The dashboard is not there: the files of dist/dashboard are missing. `npm run build` makes them; the published package has them.\n';

/**
 * Adds `GET /` and `GET /assets/NAME`, which need no token: the page has no data, and its connection shows the token.
 * @param files undefined when the dashboard is not built: `/` then answers 503 and says so
 */
export function addPages(routes: FastifyInstance, files: DashboardFiles | undefined): void {
  routes.addHook('onRequest', (_request, reply, done) => {
    reply.headers(SECURITY_HEADERS);
    done();
  });
  routes.get('/', (request, reply) =>
    files
      ? sendFile(request, reply.header('cache-control', REVALIDATED), files.page)
      : reply.code(503).header('cache-control', 'no-store').type('text/plain; charset=utf-8').send(NOT_BUILT),
  );
  routes.get<{ Params: { readonly name: string } }>('/assets/:name', (request, reply) => {
    const file = files?.assets.get(request.params.name);
    if (!file) {
      reply.callNotFound();
      return reply;
    }
    return sendFile(request, reply.header('cache-control', FOR_EVER), file);
  });
}

function sendFile(
  { headers }: Pick<FastifyRequest, 'headers'>,
  reply: FastifyReply,
  { mediaType, hash, variants }: ServedFile,
): FastifyReply {
  const coding = chooseCoding(headers['accept-encoding'], new Set(variants.keys()));
  // Variants are different representations: each has a tag of its own (RFC 9110, 8.8.3.3).
  const tag = coding === 'identity' ? `"${hash}"` : `"${hash}-${coding}"`;
  reply.header('vary', 'Accept-Encoding').header('etag', tag);
  if (hasTag(headers['if-none-match'], tag)) return reply.code(304).send();
  if (coding !== 'identity') reply.header('content-encoding', coding);
  return reply.type(mediaType).send(variants.get(coding));
}

/** Whether an `If-None-Match` header names a tag; the comparison is weak (RFC 9110, 13.1.2). */
const hasTag = (header: string | undefined, tag: string): boolean =>
  (header ?? '').split(',').some((one) => ['*', tag].includes(one.trim().replace(/^W\//, '')));
