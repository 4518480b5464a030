import type { FastifyInstance } from 'fastify';

import { asyncApiDocument } from '../../core/descriptions/async-api.js';
import { openApiDocument } from '../../core/descriptions/open-api.js';
import type { RequestAuthentication } from '../http/authentication.js';

/** Adds `GET /openapi.json`, which describes the requests over HTTP, and `GET /asyncapi.json`, for Socket.IO. */
export const descriptionRoutes =
  ({ authenticate: onRequest }: RequestAuthentication, version: string) =>
  (routes: FastifyInstance): void => {
    let described: string | undefined;
    routes.get('/openapi.json', { onRequest }, (_request, reply) => {
      // It takes 75 ms, and is always the same.
      described ??= JSON.stringify(openApiDocument(version));
      return reply.type('application/json; charset=utf-8').send(described);
    });
    // The same, but for the address by which the daemon was reached: there is one as a rule.
    let placed: { readonly address: string; readonly text: string } | undefined;
    routes.get('/asyncapi.json', { onRequest }, ({ host, protocol }, reply) => {
      const address = `${protocol}://${host}`;
      if (placed?.address !== address) {
        const document = asyncApiDocument(version, { host, isEncrypted: protocol === 'https' });
        placed = { address, text: JSON.stringify(document) };
      }
      return reply.type('application/json; charset=utf-8').send(placed.text);
    });
  };
