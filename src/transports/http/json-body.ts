import type { FastifyInstance } from 'fastify';

import { isNestedDeeper } from '../../core/validation/json-depth.js';

/** Levels of arrays and objects in a request: schemas of tools, the deepest values that clients send, have about 20. */
const MAX_DEPTH = 100;

const TOO_DEEP = `the JSON nests arrays and objects in more than ${MAX_DEPTH} levels`;

/** Reads the bodies of requests as JSON: 400 for what is nested too deep, or is no JSON. */
export function readJsonBodies(routes: FastifyInstance): void {
  const parse = routes.getDefaultJsonParser('error', 'error');
  routes.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (isNestedDeeper(body, MAX_DEPTH)) done(Object.assign(new Error(TOO_DEEP), { statusCode: 400 }));
    else void parse(request, body, done);
  });
}
