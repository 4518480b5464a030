import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { z } from 'zod';

import { AdapterError } from '../core/errors.js';
import type { Access } from '../services/access/access.js';
import type { Admission, Refusals } from '../services/access/admission.js';
import { indirectnessOf, isOfOwnPage } from './access.js';
import { bearerOf, originOf, type RequestAuthentication } from './http/authentication.js';

/** Content codings that a browser may accept, from the smallest answer to the largest. */
const CODINGS = ['br', 'gzip', 'identity'] as const;

/** Coding of an answer; `identity` is none. Source: RFC 9110, 8.4.1. */
export type Coding = (typeof CODINGS)[number];

/**
 * Chooses the smallest of the available codings that an `Accept-Encoding` header allows. Falls back to `identity`, as
 * RFC 9110, 12.5.3 permits when nothing acceptable is there.
 * @param header undefined when the request has none
 */
export function chooseCoding(header: string | undefined, available: ReadonlySet<Coding>): Coding {
  const accepted = parseAccepted(header ?? '');
  const isAccepted = (coding: Coding) => accepted.get(coding) ?? (coding === 'identity' || accepted.get('*') === true);
  return CODINGS.find((coding) => available.has(coding) && isAccepted(coding)) ?? 'identity';
}

/** Returns which codings a header names, and whether it accepts each: a weight of 0 refuses one. */
function parseAccepted(header: string): ReadonlyMap<string, boolean> {
  const entries = header.split(',').map((part): readonly [name: string, isAccepted: boolean] => {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    return [name === 'x-gzip' ? 'gzip' : name, !parameters.some((text) => /^q=0(?:\.0*)?$/.test(text))];
  });
  return new Map(entries);
}

export const DASHBOARD_DIRECTORY = fileURLToPath(new URL('../dashboard', import.meta.url));

const PAGE = 'index.html';
const ASSETS = 'assets';

/** Compressed variants, by the suffix that the build gives their files. */
const SUFFIXES: Readonly<Record<string, Coding>> = { '.br': 'br', '.gz': 'gzip' };

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
};

interface ServedFile {
  readonly mediaType: string;
  /** Hash of the content, for `ETag`. */
  readonly hash: string;
  readonly variants: ReadonlyMap<Coding, Buffer>;
}

interface DashboardFiles {
  readonly page: ServedFile;
  readonly assets: ReadonlyMap<string, ServedFile>;
}

/**
 * Reads the built dashboard. Files that the build has not compressed are compressed here.
 * @returns undefined when the directory has no page
 */
export function readDashboard(directory: string): DashboardFiles | undefined {
  if (!existsSync(join(directory, PAGE))) return undefined;
  const folder = join(directory, ASSETS);
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => extname(name) in MEDIA_TYPES) : [];
  return {
    page: readServed(join(directory, PAGE)),
    assets: new Map(names.map((name) => [name, readServed(join(folder, name))])),
  };
}

function readServed(path: string): ServedFile {
  const plain = readFileSync(path);
  const built = Object.entries(SUFFIXES).flatMap(([suffix, coding]) =>
    existsSync(path + suffix) ? [[coding, readFileSync(path + suffix)] as const] : [],
  );
  const compressed = built.length > 0 ? built : [['gzip', gzipSync(plain)] as const];
  return {
    mediaType: MEDIA_TYPES[extname(path)] ?? 'application/octet-stream',
    hash: createHash('sha256').update(plain).digest('base64url').slice(0, 22),
    variants: new Map([...compressed, ['identity', plain] as const]),
  };
}

/**
 * Content security policy of the dashboard: scripts, styles and connections of its own origin only, no page around it, and
 * no text that becomes markup or code. Source: https://www.w3.org/TR/CSP3/
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

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

export interface SessionOptions {
  readonly access: Access;
  readonly admission: Admission;
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
