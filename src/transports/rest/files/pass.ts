import { json } from 'node:stream/consumers';

import { AdapterError, type ErrorBody } from '../../../core/errors.js';
import { passedRequestHeaders } from '../../../core/cluster/passed-headers.js';
import type { Answer } from '../../../core/protocol/requests.js';
import { strongTags } from '../../../core/rest/entity-tags.js';
import type { HttpAnswer } from '../../../services/exchange/http-exchange.js';
import type { Uploaded } from '../../../services/files/transfer.js';
import type { PassedExchange, Passage } from '../../../services/ports/cluster-port.js';
import type { Caller } from '../../../services/registry/caller.js';
import type { FileHttpRequest } from './fields.js';

/** A request whose client may go away. */
export interface Attended extends Pick<PassedExchange, 'gone' | 'isEncrypted'> {
  readonly caller: Caller;
}

/** Statuses of answers to conditions and ranges, which are for the client as they are. */
const OF_CONDITIONS: ReadonlySet<number> = new Set([412, 416]);

/** Passes a download on to the node of its file. Errors become values, as if they had arisen here. */
export async function passDownload(
  passage: Passage,
  request: FileHttpRequest,
  attended: Attended,
): Promise<HttpAnswer | Answer<'read_file'> | { readonly error: ErrorBody }> {
  const answer = await passage.send({ ...exchangeOf(request, attended), body: undefined });
  const { statusCode = 502 } = answer.response;
  if (statusCode < 400 || OF_CONDITIONS.has(statusCode) || request.method === 'HEAD') return answer;
  return readAnswer<'read_file'>(answer);
}

/** Passes an upload on to the node of its file. */
export async function passUpload(
  passage: Passage,
  request: FileHttpRequest,
  attended: Attended,
): Promise<Uploaded | { readonly error: ErrorBody }> {
  const { raw } = request;
  const sent = { ...exchangeOf(request, attended), body: raw, trailers: () => raw.trailers };
  const written = await passage.send(sent);
  const answer = await readAnswer<'write_file'>(written);
  if ('error' in answer) return answer;
  const tags = strongTags(written.response.headers.etag ?? '');
  return { answer, version: tags === 'any' ? undefined : tags[0] };
}

async function readAnswer<N extends 'read_file' | 'write_file'>({
  response,
}: HttpAnswer): Promise<Answer<N> | { readonly error: ErrorBody }> {
  try {
    return (await json(response)) as Answer<N> | { readonly error: ErrorBody };
  } catch (cause) {
    // The connection has broken within the answer.
    throw new AdapterError('NODE_LOST', `the answer of the node cannot be read: ${(cause as Error).message}`, {
      details: { retry_safe: false, maybe_executed: true },
      cause,
    });
  }
}

const exchangeOf = ({ raw }: FileHttpRequest, { gone, isEncrypted }: Attended) => ({
  method: raw.method ?? 'GET',
  path: raw.url ?? '',
  headers: passedRequestHeaders(raw.headers),
  gone,
  isEncrypted,
});
