import { PassThrough, type Readable } from 'node:stream';

/** Interval of keep-alive comments in an idle stream, in milliseconds. */
const KEEP_ALIVE_MS = 15_000;
/** Longest delay of an answer's status, in milliseconds: an error until then can still set it. */
const PATIENCE_MS = 5000;

/** Server-sent events. Source: https://html.spec.whatwg.org/multipage/server-sent-events.html */
export class EventStream {
  /** Resolves with the first event, or when the headers cannot be delayed any longer. */
  readonly begun: Promise<void>;
  readonly #stream = new PassThrough();
  readonly #keepAlive: NodeJS.Timeout;
  readonly #patienceTimer: NodeJS.Timeout;
  #begin: () => void = () => undefined;
  #hasBegun = false;
  #written = 0;
  /** Bytes that had left when the stream was looked at last; undefined when it was empty. */
  #leftBefore: number | undefined;

  constructor() {
    this.#keepAlive = setInterval(() => {
      this.#stayAlive();
    }, KEEP_ALIVE_MS);
    this.begun = new Promise((resolve) => (this.#begin = resolve));
    this.#patienceTimer = setTimeout(this.#begin, PATIENCE_MS);
    // Also emitted when the client disconnects.
    this.#stream.once('close', () => {
      clearInterval(this.#keepAlive);
      clearTimeout(this.#patienceTimer);
    });
  }

  /** The stream that is sent. */
  get body(): Readable {
    return this.#stream;
  }

  /** Whether an event was sent. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Bytes that wait until the client has read what was sent before. */
  get pendingBytes(): number {
    return this.#stream.destroyed ? 0 : this.#stream.writableLength + this.#stream.readableLength;
  }

  /** Sends an event, named by its `type` if it has one. */
  send(event: object): void {
    this.sendText('type' in event && typeof event.type === 'string' ? event.type : undefined, JSON.stringify(event));
  }

  /** Sends an event whose data is JSON already: one line. */
  sendText(name: string | undefined, json: string): void {
    if (this.#stream.writableEnded || this.#stream.destroyed) return;
    this.#write(`${name === undefined ? '' : `event: ${name}\n`}data: ${json}\n\n`);
    this.#hasBegun = true;
    this.#begin();
  }

  /** Calls `listener` once, when what waits has left. */
  onDrained(listener: () => void): void {
    this.#stream.once('drain', listener);
  }

  /**
   * Ends the stream.
   * @param mark true to send `[DONE]`; without it, a client does not take a failed stream for a complete one
   */
  end(mark: boolean): void {
    clearTimeout(this.#patienceTimer);
    if (mark) this.#stream.write('data: [DONE]\n\n');
    this.#stream.end();
  }

  /** Discards the stream: a different answer is sent. */
  destroy(): void {
    this.#stream.destroy();
  }

  /** A client that has read nothing since the last time has gone, or is stopped: its events would need ever more memory. */
  #stayAlive(): void {
    const left = this.#written - this.pendingBytes;
    if (this.#leftBefore === left) {
      this.#stream.destroy(new Error('the client has stopped reading'));
      return;
    }
    this.#leftBefore = this.pendingBytes > 0 ? left : undefined;
    if (!this.#stream.writableEnded) this.#write(': keep-alive\n\n');
  }

  #write(text: string): void {
    this.#written += Buffer.byteLength(text);
    this.#stream.write(text);
  }
}
