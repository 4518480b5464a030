import type { EventName, EventPayload } from '../../core/protocol/results.js';
import type { EventSink, Marks } from './caller.js';

/** Marks of a client whose transport has none. */
const DEFAULT_MARKS: Marks = { high: 1024 * 1024, low: 256 * 1024 };
/**
 * Time after which a command no longer waits for a slow client, in milliseconds: its events are dropped, and a gap is
 * announced.
 */
const STALL_MS = 5000;

/** How far a client has got: with the newest event, behind it, or so long behind that its events are dropped. */
export type FollowerState = 'abreast' | 'behind' | 'stalled';

/** A client that follows a channel at the pace of the commands, and its backlog. */
export class Follower {
  readonly sink: EventSink;
  readonly #sessionId: string | null;
  readonly #marks: Marks;
  /** Sequence number of the first event that was dropped for this client. */
  #missingFrom: number | undefined;
  #behindSince: number | undefined;
  #isAwaitingDrain = false;

  constructor(sink: EventSink, sessionId: string | null) {
    this.sink = sink;
    this.#sessionId = sessionId;
    this.#marks = sink.marks ?? DEFAULT_MARKS;
  }

  /** Sends a numbered event, unless events are being dropped. */
  sendNumbered<N extends EventName>(event: N, payload: EventPayload<N>): void {
    if (this.#missingFrom === undefined) this.sink.send(event, payload);
  }

  /** Sends an event without a number. A client with dropped events must not take its output for complete. */
  announce<N extends EventName>(event: N, payload: EventPayload<N>, nextSeq: number): void {
    if (this.#missingFrom !== undefined) {
      this.#announceGap(nextSeq);
      this.#missingFrom = nextSeq;
    }
    this.sink.send(event, payload);
  }

  /**
   * Looks at the backlog.
   * @param nextSeq number of the next event: the first to be dropped for a stalled client
   */
  judge(nextSeq: number): FollowerState {
    const now = performance.now();
    const pending = this.sink.pendingBytes();
    if (pending > this.#marks.high) this.#behindSince ??= now;
    if (this.#behindSince === undefined) return 'abreast';
    if (pending <= this.#marks.low) {
      this.#catchUp(nextSeq);
      return 'abreast';
    }
    if (now - this.#behindSince < STALL_MS) return 'behind';
    this.#missingFrom ??= nextSeq;
    return 'stalled';
  }

  /** Calls `listener` once when unsent data has left; a second call while the first one waits has no effect. */
  onDrained(listener: () => void): void {
    if (this.#isAwaitingDrain) return;
    this.#isAwaitingDrain = true;
    this.sink.onDrained?.(() => {
      this.#isAwaitingDrain = false;
      listener();
    });
  }

  #catchUp(nextSeq: number): void {
    this.#behindSince = undefined;
    this.#announceGap(nextSeq);
    this.#missingFrom = undefined;
  }

  #announceGap(nextSeq: number): void {
    const from = this.#missingFrom ?? nextSeq;
    if (from === nextSeq) return;
    this.sink.send('output_gap', { session_id: this.#sessionId, from_seq: from, to_seq: nextSeq - 1 });
  }
}
