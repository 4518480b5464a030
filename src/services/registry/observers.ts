import type { EventName, EventPayload } from '../../core/protocol/results.js';
import type { OutputStreamName } from '../../core/protocol/fields.js';
import { ReplayRing } from '../../core/replay-ring.js';
import type { Piece } from '../../core/output/utf8-chunker.js';
import type { Command } from '../../engine/command/command.js';
import type { EventSink } from './caller.js';
import { joined, OutputBatch } from './output-batch.js';
import { EVENT_OVERHEAD_BYTES, MAX_EVENT_SIZE, type OutputEvent } from './output-event.js';

/** Least time between two deliveries, in milliseconds: that of a screen's frames. The first output after a pause does not wait. */
const TICK_MS = 16;
/** Nothing is delivered to an observer while its connection has more unsent bytes than this. */
const MAX_PENDING_BYTES = 256 * 1024;
/** Least size of one delivery: the newest event and a whole one before it, so that it fills a screen. */
const MIN_BURST_BYTES = 2 * (MAX_EVENT_SIZE + EVENT_OVERHEAD_BYTES);

/** Newest output that is kept for observers, in bytes: what one that reconnects, or gets much, may still be sent. */
const KEPT_BYTES = 1024 * 1024;
/** Number of joined events from which they are numbered at once: the rest waits for the next delivery. */
const MAX_BATCH = 8;

/** A client that sees the newest output at a limited rate, and what it may be sent at the moment. */
interface Observer {
  readonly sink: EventSink;
  readonly bytesPerSecond: number;
  readonly burstBytes: number;
  nextSeq: number;
  /** Bytes that may be sent now; negative after an announcement that had to go at once. */
  credit: number;
  creditAt: number;
}

/**
 * The observers of a channel: they never hold a command. Each is sent what is new, at most at its rate; what does not fit
 * is skipped, oldest first, and announced as a gap. The newest output always arrives. Numbers its events itself.
 */
export class Observers implements Disposable {
  readonly #sessionId: string | null;
  readonly #ring = new ReplayRing<OutputEvent>(KEPT_BYTES);
  readonly #batch = new OutputBatch();
  readonly #observers = new Map<string, Observer>();
  #timer: NodeJS.Timeout | undefined;
  #deliveredAt = -Infinity;

  constructor(sessionId: string | null) {
    this.#sessionId = sessionId;
  }

  /** Number of observers. */
  get size(): number {
    return this.#observers.size;
  }

  /**
   * Adds an observer, or changes the rate of one.
   * @param fromSeq first event to deliver; by default the next one
   * @returns number of the next event
   */
  add(sink: EventSink, bytesPerSecond: number, fromSeq = Infinity): number {
    this.#number();
    const nextSeq = Math.min(fromSeq, this.#ring.nextSeq);
    const burstBytes = Math.max((bytesPerSecond * TICK_MS) / 1000, MIN_BURST_BYTES);
    const creditAt = performance.now();
    this.#observers.set(sink.id, {
      sink,
      bytesPerSecond,
      burstBytes,
      nextSeq,
      credit: burstBytes,
      creditAt,
    });
    this.#deliverSoon();
    return nextSeq;
  }

  /** Returns true when the client was an observer. */
  remove({ id }: EventSink): boolean {
    return this.#observers.delete(id);
  }

  /** Takes output of a command. */
  take(command: Command, stream: OutputStreamName, piece: Piece): void {
    this.#batch.add(command, stream, piece);
    if (this.#batch.length > MAX_BATCH) this.#number();
    this.#deliverSoon();
  }

  /** Sends an event without a number, after the newest output before it. */
  announce<N extends EventName>(event: N, payload: EventPayload<N>): void {
    this.#number();
    for (const observer of this.#observers.values()) {
      this.#deliver(observer);
      observer.sink.send(event, payload);
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#observers.clear();
  }

  #deliverSoon(): void {
    if (this.#observers.size === 0) return;
    this.#timer ??= setTimeout(this.#tick, Math.max(0, this.#deliveredAt + TICK_MS - performance.now()));
  }

  /** Makes numbered events of the batch. */
  #number(): void {
    for (const entry of this.#batch.take()) {
      const { command, stream, offset, size } = entry;
      const event = { command_id: command.id, session_id: this.#sessionId, stream, offset, data: joined(entry) };
      this.#ring.push(event, size + EVENT_OVERHEAD_BYTES);
    }
  }

  readonly #tick = (): void => {
    this.#timer = undefined;
    this.#deliveredAt = performance.now();
    this.#number();
    for (const observer of this.#observers.values()) if (this.#mayDeliver(observer)) this.#deliver(observer);
    if ([...this.#observers.values()].some(({ nextSeq }) => nextSeq < this.#ring.nextSeq)) this.#deliverSoon();
  };

  /** Whether all that waits may be sent, or a whole burst of it. */
  #mayDeliver(observer: Observer): boolean {
    const now = performance.now();
    const earned = (observer.bytesPerSecond * (now - observer.creditAt)) / 1000;
    observer.credit = Math.min(observer.burstBytes, observer.credit + earned);
    observer.creditAt = now;
    if (observer.sink.pendingBytes() > MAX_PENDING_BYTES) return false;
    return observer.credit >= Math.min(this.#ring.bytesSince(observer.nextSeq), observer.burstBytes);
  }

  /** Sends the newest events up to a burst, and a gap for those before them. */
  #deliver(observer: Observer): void {
    const events = this.#ring.newest(observer.burstBytes, observer.nextSeq);
    const first = events[0]?.seq ?? this.#ring.nextSeq;
    if (first > observer.nextSeq) {
      const gap = { session_id: this.#sessionId, from_seq: observer.nextSeq, to_seq: first - 1 };
      observer.sink.send('output_gap', gap);
    }
    for (const { seq, event, bytes } of events) {
      observer.sink.send('command_output', { seq, ...event });
      observer.credit -= bytes;
    }
    observer.nextSeq = this.#ring.nextSeq;
  }
}
