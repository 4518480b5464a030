import type { Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { admittedFile, ClientError, hasCode } from '../../client/errors.js';
import type { ClientFiles } from '../../client/index.js';
import type { ErrorBody } from '../../core/errors.js';
import type { Answer } from '../../core/protocol/requests.js';
import { eachPiece, readRange } from '../../engine/files/open-file.js';
import type { DaemonAddress } from '../connect/daemon-address.js';
import { DaemonHttp } from '../connect/daemon-http.js';
import type { Output } from '../console/context.js';
import { CommandLineError } from '../console/failure.js';
import { onOneLine } from '../console/style.js';

/** Repeats a request that was refused because the token had made too many: nothing of it was done. */
export async function patiently<T>(request: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      const wait = hasCode(error, 'RATE_LIMITED') ? error.details?.['retry_after_ms'] : undefined;
      if (typeof wait !== 'number') throw error;
      await sleep(wait);
    }
  }
}

/** The connection of a transfer broke, or the daemon is being stopped. */
class BrokenConnection extends Error {
  override readonly name = 'BrokenConnection';
}

/** Time without progress after which a transfer is given up, in milliseconds: that of a lost connection. */
const GIVE_UP_MS = 30_000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2000;

/**
 * Repeats a transfer whose connection breaks, until half a minute has passed without progress.
 * @param moved how far it has come
 * @throws CommandLineError then; the errors of an attempt
 */
export async function persistently<T>(attempt: () => Promise<T>, moved: () => number): Promise<T> {
  let furthest = -1;
  let since = 0;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
    try {
      return await patiently(attempt);
    } catch (error) {
      if (!(error instanceof BrokenConnection)) throw error;
      if (moved() > furthest) [furthest, since, pause] = [moved(), performance.now(), FIRST_PAUSE_MS];
      if (performance.now() - since > GIVE_UP_MS) throw givenUp(error);
      await sleep(pause);
    }
  }
}

const givenUp = (cause: BrokenConnection): CommandLineError =>
  new CommandLineError(`the connection broke and did not come back: ${cause.message}`, {
    hint: 'Call it again: a large file goes on where it was.',
    cause,
  });

/** Time in which something of a transfer moves, in milliseconds. Before it begins, a person may have to decide. */
const STALLED_MS = 60_000;
const MAX_ERROR_BYTES = 1024 * 1024;

interface TransferRequest {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string | number>>;
}

/** Sends a body. The request may end before. */
type BodySender = (request: ClientRequest) => Promise<void>;

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

/** Adds the first bytes of a file to a hash. */
export async function hashBeginning(handle: FileHandle, length: number, hash: Hash): Promise<void> {
  for await (const piece of eachPiece(handle, length)) hash.update(piece);
}

/** Reads a file to its end; the next piece is read while one is used. */
export async function* piecesFrom(handle: FileHandle, offset: number): AsyncGenerator<Buffer> {
  let next = readRange(handle, offset, PIECE_BYTES);
  for (let at = offset; ;) {
    const piece = await next;
    if (piece.length === 0) return;
    at += piece.length;
    next = readRange(handle, at, PIECE_BYTES);
    // It is awaited in the next step, if there is one.
    next.catch(() => undefined);
    yield piece;
  }
}

/** Size of the pieces in which a file is read, in bytes. */
const PIECE_BYTES = 512 * 1024;

/** The value of `Repr-Digest`. Source: RFC 9530. */
export const digestField = (hash: Hash): string => `sha-256=:${hash.digest('base64')}:`;

/** Time between two lines, in milliseconds. */
const INTERVAL_MS = 200;
const MAX_NAME = 40;
const MB = 1_000_000;

/** Shows how far a copy is, on a terminal alone. */
export class CopyProgress {
  readonly #output: Output;
  #name = '';
  #size = 0;
  #done = 0;
  #moved = 0;
  #since = performance.now();
  #shownAt = 0;
  #isShown = false;

  constructor(output: Output) {
    this.#output = output;
  }

  /**
   * Begins another file, or another attempt.
   * @param done bytes that are there already
   */
  begin(name: string, size: number, done: number): void {
    this.#name = name;
    this.#size = size;
    this.#done = done;
    this.#moved = 0;
    this.#since = performance.now();
  }

  /** Notes bytes that were copied. */
  add(bytes: number): void {
    this.#done += bytes;
    this.#moved += bytes;
    const now = performance.now();
    if (!this.#output.isTerminal || now - this.#shownAt < INTERVAL_MS) return;
    this.#shownAt = now;
    this.#isShown = true;
    void this.#output.write(`\r\u001b[K${progressLine(this.#facts(now))}`);
  }

  /** Removes the line. */
  async end(): Promise<void> {
    if (this.#isShown) await this.#output.write('\r\u001b[K');
    this.#isShown = false;
  }

  #facts(now: number): ProgressFacts {
    const bytesPerSecond = (this.#moved * 1000) / Math.max(1, now - this.#since);
    return { name: this.#name, size: this.#size, done: this.#done, bytesPerSecond };
  }
}

/** How far a file is. */
interface ProgressFacts {
  readonly name: string;
  readonly size: number;
  readonly done: number;
  readonly bytesPerSecond: number;
}

/** The line for a file: its name, the part that is done, its size, and the rate. */
export function progressLine({ name, size, done, bytesPerSecond }: ProgressFacts): string {
  const share = size === 0 ? 100 : Math.floor((done / size) * 100);
  const rate = (bytesPerSecond / MB).toFixed(1);
  return `${onOneLine(name, MAX_NAME)}  ${share} %  ${(done / MB).toFixed(1)} of ${(size / MB).toFixed(1)} MB  ${rate} MB/s`;
}

export interface CopyPlan {
  /** Makes a request; waits when the token has made too many of them. */
  readonly ask: <T>(request: (files: ClientFiles) => Promise<T>) => Promise<T>;
  readonly transfers: FileTransfers;
  readonly isRecursive: boolean;
  readonly progress: CopyProgress;
  /** Tells the user what was left out. */
  note(text: string): Promise<void>;
}

/** The name of a file that is not complete, beside its place. Short enough for a name of 255 bytes. */
export const partName = (name: string, key: string): string => `.${name.slice(0, SHOWN_NAME)}.${key}.part`;

const SHOWN_NAME = 40;
