import type { IncomingHttpHeaders } from 'node:http';

import type { FastifyRequest } from 'fastify';

import { AdapterError } from '../../core/errors.js';
import { MAX_FILE_BYTES } from '../../core/file-edit.js';
import { parseContentRange, parseRange, strongTags } from '../../core/rest.js';
import type { WriteConditions } from '../../services/files/plan-content.js';

/** Keys of the attempts of an upload: they become a part of a name. */
const RESUME_KEY = /^[\w-]{1,64}$/;

/** A request whose path names a file. */
export type FileHttpRequest = FastifyRequest<{
  readonly Params: { readonly '*': string };
  readonly Querystring: Readonly<Record<string, string | readonly string[] | undefined>>;
}>;

/** Fields of the protocol that a download takes as parameters of its address. */
export const DOWNLOAD_FIELDS = ['session_id', 'node'] as const;

/** The same of an upload. */
const UPLOAD_FIELDS = [
  ...DOWNLOAD_FIELDS,
  'mode',
  'permissions',
  'create_directories',
  'expected_sha256',
  'expected_mtime_ms',
  'resume',
  'offset',
] as const;

/** Parameters of an upload that the request of the protocol does not have. */
const HTTP_FIELDS: ReadonlySet<string> = new Set(['resume', 'offset']);

/**
 * The fields of a request in its address.
 * @throws AdapterError INVALID_REQUEST for parameters that are not taken
 */
export function fieldsOf({ params, query }: FileHttpRequest, taken: readonly string[]): Record<string, unknown> {
  const unknown = Object.keys(query).find((name) => !taken.includes(name));
  if (unknown !== undefined) {
    throw invalid(`there is no parameter ${JSON.stringify(unknown)}; there are ${taken.join(', ')}`, unknown);
  }
  const fields = Object.entries(query).map(([name, value]) => [name, fieldOf(name, value)] as const);
  return { ...Object.fromEntries(fields), path: params['*'] };
}

/**
 * The fields of an upload, with those that its headers stand for.
 * @throws AdapterError INVALID_REQUEST when they contradict each other
 */
export function uploadFields(
  request: FileHttpRequest,
  { size: appendedAt }: WriteConditions,
  isNew: boolean,
): Record<string, unknown> {
  const all = Object.entries(fieldsOf(request, UPLOAD_FIELDS));
  const fields = Object.fromEntries(all.filter(([name]) => !HTTP_FIELDS.has(name)));
  const implied = appendedAt === undefined ? (isNew ? 'create' : undefined) : 'append';
  const { mode = implied } = fields;
  if (implied !== undefined && mode !== implied) {
    throw invalid(`mode must be ${implied} with this header, or be left out`, 'mode');
  }
  return { ...fields, ...(mode !== undefined && { mode }) };
}

function fieldOf(name: string, value: unknown): unknown {
  if (name === 'create_directories' && (value === 'true' || value === 'false')) return value === 'true';
  if (name === 'expected_mtime_ms' && typeof value === 'string' && value.trim() !== '') return Number(value);
  return value;
}

/**
 * The conditions of an upload in its headers.
 * @throws AdapterError INVALID_REQUEST for malformed ones
 */
export function conditionsOf({ headers, query }: FileHttpRequest): WriteConditions {
  const { 'if-match': ifMatch } = headers;
  return {
    resume: resumeOf(query, headers),
    versions: ifMatch === undefined ? undefined : strongTags(ifMatch),
    size: appendedAtIn(headers),
    digest: digestOf(headers),
  };
}

function resumeOf(
  { resume: key, offset = '0', mode }: FileHttpRequest['query'],
  { 'content-range': range }: IncomingHttpHeaders,
): WriteConditions['resume'] {
  if (key === undefined) {
    if (offset === '0') return undefined;
    throw invalid('offset goes with resume', 'offset');
  }
  if (typeof key !== 'string' || !RESUME_KEY.test(key)) {
    throw invalid('resume must have 1 to 64 letters, digits, _ or -', 'resume');
  }
  if (typeof offset !== 'string' || !/^\d{1,15}$/.test(offset))
    throw invalid('offset must be a number of bytes', 'offset');
  if (mode === 'append' || range !== undefined) throw invalid('resume is for whole files: it cannot append', 'resume');
  return { key, from: Number(offset) };
}

/** Whether the SHA-256 of an upload comes after its body. */
export const announcesDigest = ({ trailer = '' }: IncomingHttpHeaders): boolean => DIGEST_NAME.test(trailer);

const DIGEST_NAME = /(?:^|[,\s])(?:repr|content)-digest(?:$|[,\s])/i;

/** The part of a file that a download shows once it was confirmed: of its range, as much as one request reads. */
export function partOf({ range = '' }: IncomingHttpHeaders): { readonly offset?: number; readonly length?: number } {
  const part = parseRange(range, Number.MAX_SAFE_INTEGER);
  if (part === undefined || part === 'unsatisfiable' || /=\s*-/.test(range)) return {};
  return { offset: part.offset, length: Math.min(part.length, MAX_FILE_BYTES) };
}

export function mustBeNew(headers: IncomingHttpHeaders): boolean {
  const { 'if-none-match': ifNoneMatch } = headers;
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  throw invalid('If-None-Match of an upload must be *: use If-Match for a version of the file', 'If-None-Match');
}

function appendedAtIn(headers: IncomingHttpHeaders): number | undefined {
  const { 'content-range': header, 'content-length': length } = headers;
  if (header === undefined) return undefined;
  const range = parseContentRange(header);
  if (!range || range.length !== Number(length)) {
    throw invalid(
      'Content-Range must be bytes FIRST-LAST/TOTAL, of as many bytes as Content-Length says',
      'Content-Range',
    );
  }
  return range.offset;
}

const DIGEST = /^sha-256=:([A-Za-z0-9+/]{43}=):$/;

/**
 * SHA-256 in the headers or trailers of an upload, as hexadecimal digits. Source: RFC 9530.
 * @throws AdapterError INVALID_REQUEST for another digest
 */
export function digestOf(headers: NodeJS.Dict<string | string[]>): string | undefined {
  const header = headers['content-digest'] ?? headers['repr-digest'];
  if (header === undefined) return undefined;
  const [, base64] = DIGEST.exec(String(header).trim()) ?? [];
  if (base64 !== undefined) return Buffer.from(base64, 'base64').toString('hex');
  throw invalid('Content-Digest must be sha-256=:BASE64:, with the SHA-256 of the body', 'Content-Digest');
}

const invalid = (message: string, field: string): AdapterError =>
  new AdapterError('INVALID_REQUEST', message, { details: { field } });
