import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { hasBody, sendAnswer } from '../../services/exchange/send-answer.js';
import { goneSignal } from '../http/gone-signal.js';
import type { PatientRequests } from '../http/patient-requests.js';
import { answerOf, sendAnswer as sendJson } from '../rest/answer.js';
import { UploadBody } from '../rest/files/upload-body.js';
import { admitPreview, forward, type PreviewOptions } from './forward.js';

const PATH = '/v1/sessions/:session/ports/:port';
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Dependencies of the endpoint. */
export interface PreviewEndpointOptions extends PreviewOptions {
  readonly patientRequests: PatientRequests;
}

/**
 * `/v1/sessions/ID/ports/PORT/...`: passes HTTP on to a port on which a session listens. The content is foreign: browsers
 * are told to give it an origin of its own.
 */
export class PreviewEndpoint {
  readonly #options: PreviewEndpointOptions;

  constructor(options: PreviewEndpointOptions) {
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
    // Bodies are passed on as they come, whatever they are said to be.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, parsed) => {
      parsed(null);
    });
    const onRequest = async ({ raw }: FastifyRequest) => {
      await admitPreview(raw, this.#options);
    };
    for (const url of [PATH, `${PATH}/*`]) {
      scope.route({
        method: METHODS,
        url,
        // No CORS headers: pages of other origins may not read the answers.
        config: { cors: false },
        exposeHeadRoute: false,
        onRequest,
        handler: (request, reply) => this.#forward(request, reply),
      });
    }
  }

  async #forward(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { authentication, patientRequests, services } = this.#options;
    const { raw } = request;
    const { ended } = authentication.admittedOf(request);
    const gone = goneSignal(request, reply, ended);
    const hurry = patientRequests.begin(raw.socket);
    const content = new UploadBody(raw);
    reply.raw.once('close', () => {
      hurry();
      content.dismiss();
    });
    const body = hasBody(raw) ? raw : undefined;
    const forwarded = await forward(this.#options, raw, { gone, body, isUpgrade: false });
    if (!('error' in forwarded)) {
      reply.hijack();
      sendAnswer(forwarded, forwarded.headers, reply.raw);
      return reply;
    }
    content.dismiss();
    return sendJson(reply, answerOf(services.secrets.value(forwarded)));
  }
}
