import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';

import type { FastifyReply } from 'fastify';

import { AdapterError } from '../../../core/errors.js';
import { type ByteRange, parseRange } from '../../../core/rest/byte-range.js';
import { namesTag, strongTags } from '../../../core/rest/entity-tags.js';
import type { Download } from '../../../services/files/transfer.js';
import { answerOf, sendAnswer } from '../answer.js';
import { destroyIfStalled } from './stalled.js';

/** Sends a file, or the range of it that was asked for. The file is closed in the end. */
export async function sendFile(
  file: Download,
  { headers, method }: { readonly headers: IncomingHttpHeaders; readonly method: string },
  reply: FastifyReply,
): Promise<FastifyReply> {
  const refused = refusedBy(headers, file, reply);
  if (refused ?? method === 'HEAD') {
    await file[Symbol.asyncDispose]();
    if (refused) return refused;
    return addFacts(reply, file).header('content-length', file.size).send();
  }
  return sendContent(file, headers, reply);
}

async function sendContent(file: Download, headers: IncomingHttpHeaders, reply: FastifyReply): Promise<FastifyReply> {
  const range = rangeOf(headers, file);
  if (range === 'unsatisfiable') {
    await file[Symbol.asyncDispose]();
    return refuseRange(file, reply);
  }
  const { offset, length } = range ?? { offset: 0, length: file.size };
  if (range) reply.code(206).header('content-range', `bytes ${offset}-${offset + length - 1}/${file.size}`);
  const isHashed = wantsDigest(headers) && offset + length === file.size;
  let digest: string | undefined;
  const onDigest = (sha256: string | undefined) => {
    digest = sha256;
  };
  const body = Readable.from(file.read(offset, length, isHashed ? onDigest : undefined), { objectMode: false });
  const stop = destroyIfStalled(reply.raw, (socket) => socket.bytesWritten);
  body.once('close', () => {
    stop();
    void file[Symbol.asyncDispose]();
  });
  addFacts(reply, file);
  if (isHashed) reply.trailer('repr-digest', () => Promise.resolve(digestField(digest)));
  else reply.header('content-length', length);
  return reply.send(body);
}

/** Source: RFC 9530. A file that has changed meanwhile has none. */
const digestField = (sha256: string | undefined): string =>
  sha256 === undefined ? '' : `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`;

const wantsDigest = ({ 'want-repr-digest': wanted = '' }: IncomingHttpHeaders): boolean =>
  /\bsha-256\s*=\s*(?:[1-9]|10)\b/i.test(String(wanted));

function addFacts(reply: FastifyReply, { version, mtimeMs }: Download): FastifyReply {
  return (
    reply
      .type('application/octet-stream')
      .header('etag', entityTag(version))
      .header('last-modified', new Date(mtimeMs).toUTCString())
      .header('accept-ranges', 'bytes')
      .header('cache-control', 'private, no-cache')
      // A page that a command has written must not become one of the daemon's.
      .header('content-disposition', 'attachment')
      .header('x-content-type-options', 'nosniff')
  );
}

/** Answers a condition that the file does not meet. Source: RFC 9110, section 13. */
function refusedBy(headers: IncomingHttpHeaders, file: Download, reply: FastifyReply): FastifyReply | undefined {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch !== undefined) {
    const tags = strongTags(ifMatch);
    if (tags !== 'any' && !tags.includes(file.version)) {
      const error = new AdapterError('FILE_CHANGED', 'the file is not one that If-Match names: read it again');
      return sendAnswer(reply, answerOf({ error: error.toBody() }));
    }
  }
  if (ifNoneMatch === undefined || !namesTag(ifNoneMatch, file.version)) return undefined;
  return addFacts(reply, file).removeHeader('content-type').code(304).send();
}

function rangeOf(
  { range, 'if-range': ifRange }: IncomingHttpHeaders,
  file: Download,
): ByteRange | 'unsatisfiable' | undefined {
  if (range === undefined) return undefined;
  const isCurrent =
    ifRange === undefined || ifRange === entityTag(file.version) || ifRange === new Date(file.mtimeMs).toUTCString();
  return isCurrent ? parseRange(range, file.size) : undefined;
}

function refuseRange({ size }: Download, reply: FastifyReply): FastifyReply {
  const error = new AdapterError('INVALID_REQUEST', `the file has ${size} bytes: the range begins behind them`, {
    details: { field: 'Range', size },
  });
  const answer = answerOf({ error: error.toBody() });
  return sendAnswer(reply.header('content-range', `bytes */${size}`), { ...answer, status: 416 });
}

/** The entity tag of a version of a file. */
export const entityTag = (version: string): string => `"${version}"`;
