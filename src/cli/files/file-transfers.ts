import type { ClientRequest, IncomingMessage } from 'node:http';

import { admittedFile, ClientError } from '../../client/contract/errors.js';
import type { ErrorBody } from '../../core/errors.js';
import type { Answer } from '../../core/protocol/requests.js';
import type { DaemonAddress } from '../connect/daemon-address.js';
import { DaemonHttp } from '../connect/daemon-http.js';
import { BrokenConnection } from './patiently.js';

/** Time in which something of a transfer moves, in milliseconds. Before it begins, a person may have to decide. */
const STALLED_MS = 60_000;
const MAX_ERROR_BYTES = 1024 * 1024;

/** A request for a file. */
export interface TransferRequest {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string | number>>;
}

/** Sends a body. The request may end before. */
type BodySender = (request: ClientRequest) => Promise<void>;

/** Sends and receives files by HTTP. */
export class FileTransfers {
  readonly #daemon: DaemonHttp;
  readonly #sessionId: string | undefined;

  constructor(address: DaemonAddress, sessionId: string | undefined) {
    this.#daemon = new DaemonHttp(address);
    this.#sessionId = sessionId;
  }

  /**
   * Asks for a file.
   * @returns the answer, whose content has to be read
   * @throws ClientError, BrokenConnection
   */
  async get(request: TransferRequest): Promise<IncomingMessage> {
    const response = await this.#send('GET', request);
    if ((response.statusCode ?? 0) >= 300) throw await failureOf(response);
    response.setTimeout(STALLED_MS, () => response.destroy(new Error('nothing has come for a minute')));
    return response;
  }

  /**
   * Sends a file.
   * @throws ClientError, BrokenConnection, and the error of the body
   */
  async put(request: TransferRequest, sendBody: BodySender): Promise<Answer<'write_file'>> {
    const response = await this.#send('PUT', request, sendBody);
    if ((response.statusCode ?? 0) >= 300) throw await failureOf(response);
    return JSON.parse(await textOf(response)) as Answer<'write_file'>;
  }

  /** Closes the connections. */
  close(): void {
    this.#daemon[Symbol.dispose]();
  }

  #send(method: string, { path, query, headers }: TransferRequest, sendBody?: BodySender): Promise<IncomingMessage> {
    const fields = new URLSearchParams({
      ...query,
      ...(this.#sessionId !== undefined && { session_id: this.#sessionId }),
    });
    const address = `/v1/files/${encodeURIComponent(path)}?${fields.toString()}`;
    return new Promise((resolve, reject) => {
      const request = this.#daemon.begin({ method, path: address, headers });
      const sending = sendBody ? sendAll(request, sendBody) : Promise.resolve(request.end());
      sending.catch(reject);
      request.once('response', (response) => {
        // An answer that comes before the end of the body ends it.
        response.once('end', () => request.writableEnded || request.destroy());
        void sending.then(() => {
          resolve(response);
        }, reject);
      });
      // More of them can follow.
      request.on('error', (cause) => {
        void sending.finally(() => {
          reject(new BrokenConnection(cause.message, { cause }));
        });
      });
    });
  }
}

async function sendAll(request: ClientRequest, sendBody: BodySender): Promise<void> {
  request.setTimeout(STALLED_MS, () => request.destroy(new Error('nothing has moved for a minute')));
  try {
    await sendBody(request);
  } catch (error) {
    request.destroy();
    throw error;
  }
  request.setTimeout(0);
}

/** The content of an answer. Throws BrokenConnection. */
export async function* piecesOf(response: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of response as AsyncIterable<Buffer>) yield piece;
  } catch (cause) {
    throw new BrokenConnection((cause as Error).message, { cause });
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of piecesOf(response)) {
    bytes += piece.length;
    if (bytes <= MAX_ERROR_BYTES) pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

/** The error that an answer is. */
async function failureOf(response: IncomingMessage): Promise<Error> {
  const text = await textOf(response);
  let answer: { readonly error?: ErrorBody } | undefined;
  try {
    answer = JSON.parse(text) as { readonly error?: ErrorBody };
  } catch {
    // Not of the daemon: of a proxy before it.
  }
  if (answer?.error?.code === 'SHUTTING_DOWN') return new BrokenConnection(answer.error.message);
  if (answer?.error) return ClientError.from(answer.error);
  if (answer) admittedFile(answer as Answer<'write_file'>);
  return new ClientError('CONNECTION_FAILED', `the daemon has answered with the status ${response.statusCode}`);
}
