import type { Answer, RequestInput } from '../core/protocol/requests.js';
import { hasCode } from './contract/errors.js';
import type { InputSource } from './contract/input-source.js';
import type { ClientLink } from './link.js';

/** Largest chunk, in bytes: larger ones are no faster. */
const CHUNK_BYTES = 256 * 1024;
/** Size of a request on the wire besides its data, in bytes, with a margin. */
const ENVELOPE_BYTES = 512;
/** Number of chunks in flight: enough that neither side waits for the other. */
const WINDOW = 4;
/** Pause before an early chunk is sent again, in milliseconds, when the daemon gives none. */
const RETRY_MS = 100;

const encoder = new TextEncoder();

/** Sends a source to the streamed standard input of a command, with backpressure: buffers at most about 1 MiB. */
export class InputFeed {
  readonly #link: ClientLink;
  readonly #commandId: string;
  readonly #source: InputSource;
  readonly #waiters: (() => void)[] = [];
  readonly #pieces: Uint8Array[] = [];
  #pieceBytes = 0;
  #offset = 0;
  #inFlight = 0;
  #chunkBytes = CHUNK_BYTES;
  #failure: { readonly error: unknown } | undefined;
  #isStopped = false;

  constructor(link: ClientLink, commandId: string, source: InputSource) {
    this.#link = link;
    this.#commandId = commandId;
    this.#source = source;
  }

  /**
   * Feeds the command until the source ends or the command closes its input. Rejects when the source fails or the
   * connection is closed permanently.
   */
  async run(): Promise<void> {
    const iterator = this.#source[Symbol.asyncIterator]();
    try {
      const { limits } = await this.#link.request('shell_metadata', {});
      this.#chunkBytes = Math.min(CHUNK_BYTES, Math.max(1, limits.max_message_bytes - ENVELOPE_BYTES));
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
        await this.#enqueue(next.value);
        if (this.#isStopped) break;
      }
      await this.#finish();
    } catch (error) {
      // A source that was closed because the command has ended may fail for that reason.
      if (!this.#isStopped) throw error;
    } finally {
      if (this.#isStopped) release(this.#source, iterator);
      this.#isStopped = true;
    }
    if (this.#failure) throw this.#failure.error;
  }

  /** Stops sending, because the command has ended. A Node.js stream is destroyed. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    for (const wake of this.#waiters.splice(0)) wake();
    destroy(this.#source);
  }

  async #enqueue(piece: Uint8Array | string): Promise<void> {
    const bytes = typeof piece === 'string' ? encoder.encode(piece) : piece;
    this.#pieces.push(bytes);
    this.#pieceBytes += bytes.length;
    while (this.#pieceBytes >= this.#chunkBytes) await this.#sendNext();
    // Otherwise the next answer triggers the sending.
    if (this.#inFlight === 0) await this.#sendNext();
  }

  async #finish(): Promise<void> {
    while (this.#pieceBytes > 0) await this.#sendNext();
    await this.#room(1);
    if (!this.#isStopped) await this.#send(new Uint8Array(0), true);
  }

  /** Takes up to one chunk of the buffered data. */
  #takeChunk(): Uint8Array {
    const length = Math.min(this.#pieceBytes, this.#chunkBytes);
    const chunk = new Uint8Array(length);
    let filled = 0;
    while (filled < length) {
      const piece = this.#pieces.shift() ?? new Uint8Array(0);
      const part = piece.subarray(0, length - filled);
      chunk.set(part, filled);
      filled += part.length;
      if (part.length < piece.length) this.#pieces.unshift(piece.subarray(part.length));
    }
    this.#pieceBytes -= length;
    return chunk;
  }

  async #sendNext(): Promise<void> {
    await this.#room(WINDOW);
    if (this.#isStopped) this.#pieceBytes = 0;
    else if (this.#pieceBytes > 0) void this.#send(this.#takeChunk(), false);
  }

  /** Resolves when fewer than `count` chunks are in flight. */
  async #room(count: number): Promise<void> {
    while (this.#inFlight >= count && !this.#isStopped) await new Promise<void>((wake) => this.#waiters.push(wake));
  }

  async #send(data: Uint8Array, eof: boolean): Promise<void> {
    const offset = this.#offset;
    this.#offset += data.length;
    this.#inFlight += 1;
    try {
      const { stdin_closed: isClosed } = await this.#request({ command_id: this.#commandId, data, offset, eof });
      if (isClosed === true) this.#isStopped = true;
    } catch (error) {
      // The command has ended, so the rest is not needed: its own answer reports the reason.
      if (!this.#isStopped && !hasCode(error, ...NO_COMMAND)) this.#failure = { error };
      this.#isStopped = true;
    }
    this.#inFlight -= 1;
    for (const wake of this.#waiters.splice(0)) wake();
    if (this.#inFlight === 0 && this.#pieceBytes > 0) await this.#sendNext();
  }

  /**
   * Sends a chunk; repeats it when it was early: the rate limit applies, or an earlier chunk has yet to be repeated.
   */
  async #request(chunk: RequestInput<'send_input'>): Promise<Answer<'send_input'>> {
    for (;;) {
      try {
        return await this.#link.request('send_input', chunk, { timeoutMs: Infinity });
      } catch (error) {
        const isEarly =
          hasCode(error, 'RATE_LIMITED') ||
          (hasCode(error, 'INVALID_REQUEST') && error.details?.['field'] === 'offset');
        if (!isEarly || this.#isStopped) throw error;
        const { retry_after_ms: afterMs = RETRY_MS } = error.details as { readonly retry_after_ms?: number };
        await new Promise((resolve) => setTimeout(resolve, afterMs));
      }
    }
  }
}

const NO_COMMAND = ['NO_RUNNING_COMMAND', 'COMMAND_NOT_FOUND', 'SESSION_NOT_FOUND'] as const;

/** Closes a source before its end. Does not await it: a generator may be blocked. */
function release(source: InputSource, iterator: AsyncIterator<Uint8Array | string>): void {
  if (!destroy(source)) void iterator.return?.().catch(() => undefined);
}

/** Destroys a Node.js stream; returns false for any other source. */
function destroy(source: InputSource): boolean {
  const { destroy: end } = source as { readonly destroy?: unknown };
  if (typeof end !== 'function') return false;
  end.call(source);
  return true;
}
