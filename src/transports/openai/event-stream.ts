import { PassThrough, type Readable } from 'node:stream';

/** Interval of keep-alive comments in an idle stream, in milliseconds. */
const KEEP_ALIVE_MS = 15_000;
/** Longest delay of an answer's status, in milliseconds: an error until then can still set it. */
const PATIENCE_MS = 5000;

/** Server-sent events in OpenAI's format. Source: https://html.spec.whatwg.org/multipage/server-sent-events.html */
export class EventStream {
  /** Resolves with the first event, or when the headers cannot be delayed any longer. */
  readonly begun: Promise<void>;
  readonly #stream = new PassThrough();
  readonly #keepAlive: NodeJS.Timeout;
  readonly #patienceTimer: NodeJS.Timeout;
  #begin: () => void = () => undefined;
  #hasBegun = false;

  constructor() {
    this.#keepAlive = setInterval(() => this.#stream.write(': keep-alive\n\n'), KEEP_ALIVE_MS);
    this.begun = new Promise((resolve) => (this.#begin = resolve));
    this.#patienceTimer = setTimeout(this.#begin, PATIENCE_MS);
    // Also emitted when the client disconnects.
    this.#stream.once('close', () => {
      this.#stopTimers();
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

  /** Sends an event, named by its `type` if it has one. */
  send(event: object): void {
    if (this.#stream.writableEnded || this.#stream.destroyed) return;
    const name = 'type' in event && typeof event.type === 'string' ? `event: ${event.type}\n` : '';
    this.#stream.write(`${name}data: ${JSON.stringify(event)}\n\n`);
    this.#hasBegun = true;
    this.#begin();
  }

  /**
   * Ends the stream.
   * @param mark true to send `[DONE]`; without it, a client does not take a failed stream for a complete one
   */
  end(mark: boolean): void {
    this.#stopTimers();
    if (mark) this.#stream.write('data: [DONE]\n\n');
    this.#stream.end();
  }

  /** Discards the stream: a different answer is sent. */
  destroy(): void {
    this.#stream.destroy();
  }

  #stopTimers(): void {
    clearInterval(this.#keepAlive);
    clearTimeout(this.#patienceTimer);
  }
}
