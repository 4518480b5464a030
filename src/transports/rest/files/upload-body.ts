import type { IncomingMessage } from 'node:http';

import { AdapterError } from '../../../core/errors.js';
import { destroyIfStalled } from './stalled.js';

/** Longest time in which the rest of a refused upload is taken, in milliseconds. */
const LAST_BYTES_MS = 2000;

/** The body of an upload, read once. Its connection stays open when it is not read to its end. */
export class UploadBody implements AsyncIterable<Uint8Array> {
  readonly #request: IncomingMessage;
  #bytes = 0;

  constructor(request: IncomingMessage) {
    this.#request = request;
  }

  /** Bytes so far. */
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
