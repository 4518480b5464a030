import type { FastifyInstance, FastifyReply } from 'fastify';

import { AdapterError } from '../../../core/errors.js';
import type { Log } from '../../../core/logging/log.js';
import type { Answer, Request } from '../../../core/protocol/requests.js';
import type { HttpAnswer } from '../../../services/exchange/http-exchange.js';
import type { Download } from '../../../services/files/transfer.js';
import type { Passage } from '../../../services/ports/cluster-port.js';
import type { Services } from '../../../services/services.js';
import { endConnection } from '../../connection.js';
import { carryOut, type DispatchContext, type Reply } from '../../dispatch.js';
import type { HttpAuthentication } from '../../http/authentication.js';
import { goneSignal } from '../../http/gone-signal.js';
import type { PatientRequests } from '../../http/patient-requests.js';
import { traceIn } from '../../http/trace-headers.js';
import { answerOf, sendAnswer } from '../answer.js';
import { silentSink } from '../event-stream-sink.js';
import { entityTag, sendFile } from './download.js';
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
import { sendPassed } from '../../http/send-passed.js';
import { type Attended, passDownload, passUpload } from './pass.js';
import { UploadBody } from './upload-body.js';

const PATH = '/v1/files/*';
/** Status of a request that has to be confirmed: a client that knows only statuses must not take it for done. */
const TO_BE_CONFIRMED = 403;

/** A file here, one of another node, or what is to be confirmed. */
type Found = Download | HttpAnswer | Answer<'read_file'>;

/** Dependencies of the endpoint. */
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

  /** Adds the routes. */
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
    const found = await this.#attended(request, reply, (attended) => {
      const { caller } = attended;
      const elsewhere = (passage: Passage) => passDownload(passage, request, attended);
      const act = (asked: Request<'read_file'>): Promise<Found> => services.files.download(asked, caller);
      return carryOut(this.#contextOf(request), { name: 'read_file', payload, caller, elsewhere }, act);
    });
    if ('read' in found) return sendFile(found, request, reply);
    if ('response' in found) return sendPassed(found, reply);
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
    const written = await this.#attended(request, reply, (attended) => {
      const { caller } = attended;
      const elsewhere = (passage: Passage) => passUpload(passage, request, attended);
      return carryOut(
        this.#contextOf(request),
        { name: 'write_file', payload, caller, elsewhere },
        (asked) => services.files.upload({ request: asked, ...upload }, caller),
        () => ({ ...payload, data: undefined, bytes: content.bytes }),
      );
    });
    hurry();
    content.dismiss();
    if ('error' in written) {
      // RFC 9110: a precondition that failed.
      const isRefused = isNew && written.error.code === 'FILE_EXISTS';
      return this.#answer(reply, written, isRefused ? 412 : undefined);
    }
    const { answer, version } = written;
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
    make: (attended: Attended) => Promise<T>,
  ): Promise<T> {
    const { services, authentication } = this.#options;
    const { caller, ended, isEncrypted } = authentication.admittedOf(request);
    const sink = silentSink();
    const end = () => {
      endConnection(services, sink);
    };
    const gone = goneSignal(request, reply, ended);
    gone.addEventListener('abort', end, { once: true });
    const made = await make({ caller: { ...caller, sink }, gone, isEncrypted });
    end();
    return made;
  }

  #answer(reply: FastifyReply, answer: Reply, status?: number): FastifyReply {
    const made = answerOf(this.#options.services.secrets.value(answer));
    const isStopped = 'status' in answer && answer.status === 'confirmation_required';
    return sendAnswer(reply, { ...made, status: isStopped ? TO_BE_CONFIRMED : (status ?? made.status) });
  }
}
