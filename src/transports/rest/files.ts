import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';

import type { FastifyInstance, FastifyReply } from 'fastify';

import { AdapterError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import { type ByteRange, namesTag, parseRange, strongTags } from '../../core/rest.js';
import type { HttpRequest } from '../../services/cluster-port.js';
import type { Download, Uploaded } from '../../services/files/transfer.js';
import type { Caller } from '../../services/registry/caller.js';
import type { Services } from '../../services/services.js';
import { endConnection } from '../connection.js';
import { carryOut, type DispatchContext, type Reply } from '../dispatch.js';
import type { HttpAuthentication } from '../http/authentication.js';
import { goneSignal, type PatientRequests, rawRequest, sendForwarded, traceIn } from '../http/http-requests.js';
import { answerOf, sendAnswer, silentSink } from './answer.js';
import {
  announcesDigest,
  conditionsOf,
  digestOf,
  DOWNLOAD_FIELDS,
  fieldsOf,
  type FileHttpRequest,
  mustBeNew,
  partOf,
  uploadFields,
} from './fields.js';

/** Longest time in which a transfer does not move, in milliseconds. */
const STALLED_MS = 30_000;

/**
 * Closes the connection of a transfer when nothing of it moves for half a minute: the client has stopped, and the file is
 * not held for it.
 * @param moved bytes so far
 * @returns ends the watch
 */
function destroyIfStalled(
  { socket }: Pick<IncomingMessage | ServerResponse, 'socket'>,
  moved: (socket: Socket) => number,
): () => void {
  if (!socket) return () => undefined;
  let before = moved(socket);
  const timer = setInterval(() => {
    const now = moved(socket);
    if (now === before) socket.destroy();
    before = now;
  }, STALLED_MS);
  return () => {
    clearInterval(timer);
  };
}

/** Sends a file, or the range of it that was asked for. The file is closed in the end. */
async function sendFile(
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

const entityTag = (version: string): string => `"${version}"`;

/** Statuses of answers to conditions and ranges, which are for the client as they are. */
const OF_CONDITIONS: ReadonlySet<number> = new Set([412, 416]);

/** Longest time in which the rest of a refused upload is taken, in milliseconds. */
const LAST_BYTES_MS = 2000;

/** The body of an upload, read once. Its connection stays open when it is not read to its end. */
export class UploadBody implements AsyncIterable<Uint8Array> {
  readonly #request: IncomingMessage;
  #bytes = 0;

  constructor(request: IncomingMessage) {
    this.#request = request;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** What the client has sent after the body. */
  get trailers(): NodeJS.Dict<string> {
    return this.#request.trailers;
  }

  /**
   * Lets go of a body that was not read to its end. A client that still sends gets its answer first: a closed connection
   * with unread bytes would take it away.
   */
  dismiss(): void {
    const request = this.#request;
    if (request.complete || request.destroyed) return;
    request.resume();
    const timer = setTimeout(() => request.socket.destroy(), LAST_BYTES_MS);
    request.once('close', () => {
      clearTimeout(timer);
    });
  }

  /** @throws AdapterError INVALID_REQUEST when the client breaks it off */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const request = this.#request;
    const stop = destroyIfStalled(request, (socket) => socket.bytesRead);
    try {
      for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        this.#bytes += piece.length;
        yield piece;
      }
    } catch {
      // ECONNRESET, or the connection was closed here.
      throw brokenOff(this.#bytes);
    } finally {
      stop();
    }
    if (!request.complete) throw brokenOff(this.#bytes);
  }
}

const brokenOff = (bytes: number): AdapterError =>
  new AdapterError('INVALID_REQUEST', `the upload was broken off after ${bytes} bytes: the file was not changed`, {
    details: { bytes },
  });

const PATH = '/v1/files/*';
/** Status of a request that has to be confirmed: a client that knows only statuses must not take it for done. */
const TO_BE_CONFIRMED = 403;

/** A file, or what is to be confirmed. */
type Found = Download | Answer<'read_file'>;

/** A file that was written, or what is to be confirmed. */
type Stored = Uploaded | Answer<'write_file'>;

const isFailure = (status: number): boolean => status >= 400;

export interface FileEndpointOptions {
  readonly services: Services;
  readonly authentication: HttpAuthentication;
  readonly patientRequests: PatientRequests;
  readonly log: Log;
}

/** `GET`, `HEAD` and `PUT /v1/files/PATH`: `read_file` and `write_file` for files of any size, as HTTP has them. */
export class FileEndpoint {
  readonly #options: FileEndpointOptions;

  constructor(options: FileEndpointOptions) {
    this.#options = options;
  }

  readonly register = (routes: FastifyInstance): void => {
    void routes.register((scope, _options, done) => {
      this.#addRoutes(scope);
      done();
    });
  };

  #addRoutes(scope: FastifyInstance): void {
    const { authentication } = this.#options;
    const onRequest = authentication.authenticate;
    // Bodies are read as they come, whatever they are said to be.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, parsed) => {
      parsed(null);
    });
    const download = (request: unknown, reply: FastifyReply) => this.#download(request as FileHttpRequest, reply);
    scope.get(PATH, { onRequest, exposeHeadRoute: false }, download);
    scope.head(PATH, { onRequest }, download);
    scope.put(PATH, { onRequest }, (request, reply) => this.#upload(request as FileHttpRequest, reply));
    scope.route({
      method: ['POST', 'PATCH', 'DELETE'],
      url: PATH,
      onRequest: (request, reply) => {
        reply.header('allow', 'GET, HEAD, PUT');
        const message = `files are read with GET and written with PUT, not with ${request.method}; POST /v1/requests/remove_path removes one`;
        throw new AdapterError('METHOD_NOT_ALLOWED', message);
      },
      handler: () => undefined,
    });
  }

  async #download(request: FileHttpRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { services } = this.#options;
    const payload = { ...fieldsOf(request, DOWNLOAD_FIELDS), ...partOf(request.headers) };
    const hasReply = (status: number) => status >= 400 && !OF_CONDITIONS.has(status) && request.method !== 'HEAD';
    const found = await this.#attended(request, reply, (caller, came) => {
      const act = (asked: Request<'read_file'>): Promise<Found> => services.files.download(asked, caller);
      const http = () => rawRequest(request.raw, { ...came, hasReply });
      return carryOut(this.#contextOf(request), { name: 'read_file', payload, caller, http }, act);
    });
    if ('read' in found) return sendFile(found, request, reply);
    if ('response' in found) return sendForwarded(found, reply);
    return this.#answer(reply, found);
  }

  async #upload(request: FileHttpRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { services, patientRequests } = this.#options;
    const { headers, raw } = request;
    const { 'content-length': length } = headers;
    const isNew = mustBeNew(headers);
    const conditions = conditionsOf(request);
    const payload = { ...uploadFields(request, conditions, isNew), data: '' };
    const content = new UploadBody(raw);
    const hurry = patientRequests.begin(raw.socket);
    const digest = announcesDigest(headers)
      ? () => Promise.resolve().then(() => digestOf(content.trailers))
      : undefined;
    const upload = { conditions, size: length === undefined ? undefined : Number(length), content, digest };
    const written = await this.#attended(request, reply, (caller, came) => {
      const act = (asked: Request<'write_file'>): Promise<Stored> =>
        services.files.upload({ request: asked, ...upload }, caller);
      const http = () => rawRequest(raw, { ...came, body: raw, trailers: () => raw.trailers, hasReply: isFailure });
      const recorded = () => ({ ...payload, data: undefined, bytes: content.bytes });
      return carryOut(this.#contextOf(request), { name: 'write_file', payload, caller, http }, act, recorded);
    });
    hurry();
    content.dismiss();
    if ('response' in written) return sendForwarded(written, reply);
    if ('error' in written) {
      // RFC 9110: a precondition that failed.
      const isRefused = isNew && written.error.code === 'FILE_EXISTS';
      return this.#answer(reply, written, isRefused ? 412 : undefined);
    }
    const { answer, version } = 'answer' in written ? written : { answer: written, version: undefined };
    if (version !== undefined) reply.header('etag', entityTag(version));
    return this.#answer(reply, answer, answer.created ? 201 : undefined);
  }

  #contextOf({ headers }: FileHttpRequest): DispatchContext {
    return { ...this.#options, trace: traceIn(headers) };
  }

  /** Makes a request whose confirmation is withdrawn when the client disconnects. */
  async #attended<T>(
    request: FileHttpRequest,
    reply: FastifyReply,
    make: (caller: Caller, came: Pick<HttpRequest, 'gone' | 'isEncrypted'>) => Promise<T>,
  ): Promise<T> {
    const { services, authentication } = this.#options;
    const { caller, ended, isEncrypted } = authentication.admittedOf(request);
    const sink = silentSink();
    const end = () => {
      endConnection(services, sink);
    };
    const gone = goneSignal(request, reply, ended);
    gone.addEventListener('abort', end, { once: true });
    const made = await make({ ...caller, sink }, { gone, isEncrypted });
    end();
    return made;
  }

  #answer(reply: FastifyReply, answer: Reply, status?: number): FastifyReply {
    const made = answerOf(this.#options.services.secrets.value(answer));
    const isStopped = 'status' in answer && answer.status === 'confirmation_required';
    return sendAnswer(reply, { ...made, status: isStopped ? TO_BE_CONFIRMED : (status ?? made.status) });
  }
}
