import type { EventSink, Marks } from './caller.js';

/** Marks of a client whose transport has none. */
const DEFAULT_MARKS: Marks = { high: 1024 * 1024, low: 256 * 1024 };
/** Time after which nothing waits for a slow client any more, in milliseconds: what it misses is dropped and announced. */
const STALL_MS = 5000;
/** How often a slow client is looked at, in milliseconds: its transport may not tell that it has drained. */
const LOOK_MS = 16;

/** How far a client has got: with the newest event, behind it, or so long behind that its events are dropped. */
export type Backlog = 'none' | 'behind' | 'stalled';

/**
 * What a connection is sent that may be more than its client reads. There are two kinds. Events that must all arrive, in
 * order, hold their source while there is a backlog: from the high mark until the low mark is reached, or until the
 * client has stalled. Of states only the newest matters: a `Lane` sends it once the client is below the low mark.
 */
export class Outbox {
  /** By their sinks: all that is sent over a connection shares one. */
  static readonly #outboxes = new WeakMap<EventSink, Outbox>();

  readonly sink: EventSink;
  readonly #marks: Marks;
  /** When the client was above the high mark first, on the monotonic clock; undefined once it was below the low mark. */
  #behindSince: number | undefined;
  readonly #waiting = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #isAwaitingDrain = false;

  private constructor(sink: EventSink) {
    this.sink = sink;
    this.#marks = sink.marks ?? DEFAULT_MARKS;
  }

  /** Returns the outbox of a connection. */
  static of(sink: EventSink): Outbox {
    const outbox = Outbox.#outboxes.get(sink) ?? new Outbox(sink);
    Outbox.#outboxes.set(sink, outbox);
    return outbox;
  }

  /** Whether a state has to wait. */
  get isBehind(): boolean {
    return this.sink.pendingBytes() > this.#marks.low;
  }

  /** Whether events in order have to wait, or are dropped. */
  get backlog(): Backlog {
    const pending = this.sink.pendingBytes();
    if (pending <= this.#marks.low || this.sink.isGone === true) this.#behindSince = undefined;
    else if (pending > this.#marks.high) this.#behindSince ??= performance.now();
    if (this.#behindSince === undefined) return 'none';
    this.#watch();
    return performance.now() - this.#behindSince < STALL_MS ? 'behind' : 'stalled';
  }

  /** Calls a listener once, when bytes have left, the client is looked at again, or it has gone. */
  atNextLook(listener: () => void): void {
    this.#waiting.add(listener);
    this.#watch();
  }

  /** Takes a listener back. */
  forget(listener: () => void): void {
    this.#waiting.delete(listener);
    if (this.#waiting.size === 0 && this.#behindSince === undefined) this.#rest();
  }

  #watch(): void {
    this.#timer ??= setTimeout(this.#look, LOOK_MS).unref();
    if (this.#isAwaitingDrain) return;
    this.#isAwaitingDrain = true;
    this.sink.onDrained?.(() => {
      this.#isAwaitingDrain = false;
      this.#look();
    });
  }

  #rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  readonly #look = (): void => {
    this.#rest();
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const listener of waiting) listener();
    // Looks on while there is a backlog, also without listeners: it must not seem to have lasted.
    void this.backlog;
  };
}

/** Sends a client the newest of a state when it is time for it, and the client is not behind. */
export class Lane implements Disposable {
  readonly #outbox: Outbox;
  readonly #send: () => void;
  #timer: NodeJS.Timeout | undefined;
  #isWaiting = false;

  /** @param send sends what is new */
  constructor(sink: EventSink, send: () => void) {
    this.#outbox = Outbox.of(sink);
    this.#send = send;
  }

  /**
   * Notes that something is new. It goes with what waits already.
   * @param delayMs least time until it is sent; 0 sends it at once if the client is not behind
   */
  offer(delayMs = 0): void {
    if (this.#timer !== undefined || this.#isWaiting) return;
    if (delayMs > 0) this.#timer = setTimeout(this.#attempt, delayMs).unref();
    else this.#attempt();
  }

  /** Sends what waits, although the client may be behind. */
  flush(): void {
    if (this.#timer === undefined && !this.#isWaiting) return;
    this[Symbol.dispose]();
    this.#send();
  }

  /** Drops what waits. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isWaiting = false;
    this.#outbox.forget(this.#attempt);
  }

  readonly #attempt = (): void => {
    this.#timer = undefined;
    this.#isWaiting = false;
    if (this.#outbox.sink.isGone === true) return;
    this.#isWaiting = this.#outbox.isBehind;
    if (this.#isWaiting) this.#outbox.atNextLook(this.#attempt);
    else this.#send();
  };
}
