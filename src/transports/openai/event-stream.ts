import { PassThrough, type Readable } from 'node:stream';

/** How often a client hears that the connection stands, while there is nothing else to say, in milliseconds. */
const KEEP_ALIVE_MS = 15_000;
/** How long the status of an answer may be put off for an error that may still come, in milliseconds. */
const PATIENCE_MS = 5000;

/** Server-sent events as OpenAI's clients read them. Source: https://html.spec.whatwg.org/multipage/server-sent-events.html */
export class EventStream {
  /** Resolves with the first event; or without one, when the client has waited long enough for the headers. */
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
    // It also ends when the client goes.
    this.#stream.once('close', () => {
      this.#stopTimers();
    });
  }

  /** What is sent. */
  get body(): Readable {
    return this.#stream;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Sends an event, by its name if it has a `type`. */
  send(event: object): void {
    if (this.#stream.writableEnded || this.#stream.destroyed) return;
    const name = 'type' in event && typeof event.type === 'string' ? `event: ${event.type}\n` : '';
    this.#stream.write(`${name}data: ${JSON.stringify(event)}\n\n`);
    this.#hasBegun = true;
    this.#begin();
  }

  /** Nothing more comes. @param mark whether `[DONE]` says so; without it, nobody takes a stream that failed for a whole one */
  end(mark: boolean): void {
    this.#stopTimers();
    if (mark) this.#stream.write('data: [DONE]\n\n');
    this.#stream.end();
  }

  /** Ends without a word: the answer is another one. */
  destroy(): void {
    this.#stream.destroy();
  }

  #stopTimers(): void {
    clearInterval(this.#keepAlive);
    clearTimeout(this.#patienceTimer);
  }
}
