import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

import { AdapterError, type ErrorBody } from '../../core/errors.js';
import type { Log } from '../../core/logging/log.js';
import { passedAnswerHeaders, passedRequestHeaders } from '../../core/cluster/passed-headers.js';
import type { ForwardedHeaders } from '../../core/previews/http-headers.js';
import { answerHeaders, OWN_ORIGIN_HEADER, requestHeaders, shownAt } from '../../core/previews/preview-headers.js';
import { parsePreviewUrl } from '../../core/previews/preview-url.js';
import type { HttpAnswer } from '../../services/exchange/http-exchange.js';
import type { Services } from '../../services/services.js';
import type { Passage } from '../../services/ports/cluster-port.js';
import { isOfOwnPage, isOfPage } from '../access.js';
import { carryOut } from '../dispatch.js';
import type { Admitted, HttpAuthentication } from '../http/authentication.js';
import { traceIn } from '../http/trace-headers.js';
import { askPort } from './ask-port.js';

/** Longest path that is recorded, in characters. */
const MAX_RECORDED = 200;

/** Dependencies of previews. */
export interface PreviewOptions {
  readonly services: Services;
  readonly authentication: HttpAuthentication;
  readonly log: Log;
}

/** The answer of the program, with the headers that the client gets. */
export interface Forwarded extends HttpAnswer {
  readonly headers: ForwardedHeaders;
}

/** What a request brings with it. */
interface Passing {
  /** Aborted when the client has gone. */
  readonly gone: AbortSignal;
  readonly body: Readable | undefined;
  readonly isUpgrade: boolean;
}

/**
 * Authenticates a request for a preview. Pages of other origins may not make one, whatever they know.
 * @throws AdapterError UNAUTHORIZED, RATE_LIMITED, FORBIDDEN
 */
export async function admitPreview(
  raw: IncomingMessage,
  { authentication }: Pick<PreviewOptions, 'authentication'>,
): Promise<Admitted> {
  if (isOfPage(raw.headers) && !isOfOwnPage(raw.headers)) {
    throw new AdapterError('FORBIDDEN', 'web pages of other origins cannot use previews of ports');
  }
  await authentication.authenticate({ raw });
  return authentication.admittedOf({ raw });
}

/**
 * Passes an admitted request on to the program on its port, as the request `preview_port` of the protocol: with its
 * quota, role and record. Never rejects for an error of the catalogue.
 */
export async function forward(
  options: PreviewOptions,
  raw: IncomingMessage,
  { gone, body, isUpgrade }: Passing,
): Promise<Forwarded | { readonly error: ErrorBody }> {
  const { previews } = options.services;
  const { method = 'GET', url = '', headers } = raw;
  const { caller, isEncrypted } = options.authentication.admittedOf({ raw });
  const target = parsePreviewUrl(url);
  if (!target) throw new AdapterError('UNKNOWN_REQUEST', 'previews are at /v1/sessions/ID/ports/PORT/');
  const { prefix, path } = target;
  const payload = { session_id: target.sessionId, port: /^\d+$/.test(target.port) ? Number(target.port) : target.port };
  const host = headers.host ?? '';
  const elsewhere = async (passage: Passage) => {
    const sent = { method, path: url, headers: passedRequestHeaders(headers, isUpgrade), body, gone, isEncrypted };
    const answer = await passage.send(sent);
    return { ...answer, headers: passedAnswerHeaders(answer.response.headers, answer.upgraded !== undefined) };
  };
  return carryOut(
    { ...options, trace: traceIn(headers) },
    { name: 'preview_port', payload, caller, elsewhere },
    async (asked) => {
      const origin = shownAt({ port: asked.port, prefix, host, isEncrypted }, headers[OWN_ORIGIN_HEADER]);
      const connection = await previews.connect(asked, caller.principal);
      const sent = { method, path, headers: requestHeaders(headers, origin, isUpgrade), body, gone };
      const answer = await askPort(connection, sent);
      const shown = answerHeaders(answer.response.headers, origin, answer.upgraded !== undefined);
      return { ...answer, headers: shown };
    },
    // Queries may have secrets.
    () => ({ ...payload, method, path: path.replace(/\?.*$/s, '').slice(0, MAX_RECORDED) }),
  );
}
