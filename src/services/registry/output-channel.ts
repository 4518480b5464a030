import type { Piece } from '../../core/output/utf8.js';
import type { OutputStreamName } from '../../core/protocol/fields.js';
import type { EventName, EventPayload } from '../../core/protocol/results.js';
import { type Replay, ReplayRing } from '../../core/replay-ring.js';
import type { Command } from '../../engine/command/command.js';
import type { EventSink } from './caller.js';
import { type Backlog, Lane, Outbox } from './outbox.js';

/** A client that gets all output in order, and what it misses after it has stalled. */
class Follower {
  readonly outbox: Outbox;
  readonly #sessionId: string | null;
  /** Sequence number of the first event that was dropped for this client. */
  #missingFrom: number | undefined;

  constructor(sink: EventSink, sessionId: string | null) {
    this.outbox = Outbox.of(sink);
    this.#sessionId = sessionId;
  }

  /** Sends a numbered event, unless events are being dropped. */
  sendNumbered<N extends EventName>(event: N, payload: EventPayload<N>): void {
    if (this.#missingFrom === undefined) this.outbox.sink.send(event, payload);
  }

  /** Sends an event without a number. A client with dropped events must not take its output for complete. */
  announce<N extends EventName>(event: N, payload: EventPayload<N>, nextSeq: number): void {
    if (this.#missingFrom !== undefined) {
      this.#announceGap(nextSeq);
      this.#missingFrom = nextSeq;
    }
    this.outbox.sink.send(event, payload);
  }

  /**
   * Looks at the backlog.
   * @param nextSeq number of the next event: the first to be dropped for a stalled client
   */
  judge(nextSeq: number): Backlog {
    const { backlog } = this.outbox;
    if (backlog === 'none') {
      this.#announceGap(nextSeq);
      this.#missingFrom = undefined;
    } else if (backlog === 'stalled') this.#missingFrom ??= nextSeq;
    return backlog;
  }

  #announceGap(nextSeq: number): void {
    const from = this.#missingFrom ?? nextSeq;
    if (from === nextSeq) return;
    this.outbox.sink.send('output_gap', { session_id: this.#sessionId, from_seq: from, to_seq: nextSeq - 1 });
  }
}

/** Largest event, in characters or bytes: Socket.IO clients parse whole packets. */
const MAX_EVENT_SIZE = 64 * 1024;
/** Size of an event without its data, for the replay budget. */
const EVENT_OVERHEAD_BYTES = 200;

/** An output event before it has a number. */
type OutputEvent = Omit<EventPayload<'command_output'>, 'seq'>;

/** Consecutive output of one stream of a command. */
interface BatchedOutput {
  readonly command: Command;
  readonly stream: OutputStreamName;
  readonly offset: number;
  readonly parts: (string | Uint8Array)[];
  /** In characters or bytes. */
  size: number;
}

/** Joins pieces of output, so that a few large events are sent in place of many small ones. */
class OutputBatch {
  #entries: BatchedOutput[] = [];

  /** Number of events that the batch makes. */
  get length(): number {
    return this.#entries.length;
  }

  /** Whether it is worth sending at once. */
  get isLarge(): boolean {
    return this.#entries.length > 1 || (this.#entries[0]?.size ?? 0) >= MAX_EVENT_SIZE / 2;
  }

  /** Adds a piece, to the last entry where it continues that. */
  add(command: Command, stream: OutputStreamName, { offset, data }: Piece): void {
    const last = this.#entries.at(-1);
    const isSameKind = last && typeof last.parts[0] === typeof data;
    if (isSameKind && last.command === command && last.stream === stream && last.size + data.length <= MAX_EVENT_SIZE) {
      last.parts.push(data);
      last.size += data.length;
    } else {
      this.#entries.push({ command, stream, offset, parts: [data], size: data.length });
    }
  }

  /** Empties the batch. */
  take(): readonly BatchedOutput[] {
    const entries = this.#entries;
    this.#entries = [];
    return entries;
  }
}

/** Returns the data of an entry: a string, or bytes. */
function joined({ parts }: BatchedOutput): string | Uint8Array {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  return typeof first === 'string' ? parts.join('') : Buffer.concat(parts as readonly Uint8Array[]);
}

/** Least time between two deliveries, in milliseconds: that of a screen's frames. The first output after a pause does not wait. */
const TICK_MS = 16;
/** Least size of one delivery: the newest event and a whole one before it, so that it fills a screen. */
const MIN_BURST_BYTES = 2 * (MAX_EVENT_SIZE + EVENT_OVERHEAD_BYTES);

/** Newest output that is kept for observers, in bytes: what one that reconnects, or gets much, may still be sent. */
const KEPT_BYTES = 1024 * 1024;
/** Number of joined events from which they are numbered at once: the rest waits for the next delivery. */
const MAX_BATCH = 8;

/** A client that sees the newest output at a limited rate, and what it may be sent at the moment. */
interface Observer {
  readonly sink: EventSink;
  readonly lane: Lane;
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
    this.remove(sink);
    const nextSeq = Math.min(fromSeq, this.#ring.nextSeq);
    const burstBytes = Math.max((bytesPerSecond * TICK_MS) / 1000, MIN_BURST_BYTES);
    const lane = new Lane(sink, () => {
      this.#tick(observer);
    });
    const creditAt = performance.now();
    const observer: Observer = { sink, lane, bytesPerSecond, burstBytes, nextSeq, credit: burstBytes, creditAt };
    this.#observers.set(sink.id, observer);
    this.#offer(observer);
    return nextSeq;
  }

  /** Returns true when the client was an observer. */
  remove({ id }: EventSink): boolean {
    this.#observers.get(id)?.lane[Symbol.dispose]();
    return this.#observers.delete(id);
  }

  /** Takes output of a command. */
  take(command: Command, stream: OutputStreamName, piece: Piece): void {
    this.#batch.add(command, stream, piece);
    if (this.#batch.length > MAX_BATCH) this.#number();
    for (const observer of this.#observers.values()) this.#offer(observer);
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
    for (const { lane } of this.#observers.values()) lane[Symbol.dispose]();
    this.#observers.clear();
  }

  /** Delivers in a tick: all observers in the same one. */
  #offer({ lane }: Observer): void {
    lane.offer(Math.max(1, this.#deliveredAt + TICK_MS - performance.now()));
  }

  /** Makes numbered events of the batch. */
  #number(): void {
    for (const entry of this.#batch.take()) {
      const { command, stream, offset, size } = entry;
      const event = { command_id: command.id, session_id: this.#sessionId, stream, offset, data: joined(entry) };
      this.#ring.push(event, size + EVENT_OVERHEAD_BYTES);
    }
  }

  /** Delivers if all that waits may be sent, or a whole burst of it; otherwise once that is so. */
  #tick(observer: Observer): void {
    this.#number();
    const now = performance.now();
    const earned = (observer.bytesPerSecond * (now - observer.creditAt)) / 1000;
    observer.credit = Math.min(observer.burstBytes, observer.credit + earned);
    observer.creditAt = now;
    const missing = Math.min(this.#ring.bytesSince(observer.nextSeq), observer.burstBytes) - observer.credit;
    if (missing > 0) {
      observer.lane.offer(Math.max(TICK_MS, (missing / observer.bytesPerSecond) * 1000));
      return;
    }
    this.#deliveredAt = now;
    this.#deliver(observer);
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

/** Output within this time is sent in one batch, in milliseconds. */
const BATCH_MS = 4;

const STREAMS = ['stdout', 'stderr'] as const;

/**
 * Sends the output events of one session (or of one one-shot command) to the clients that follow it: numbered, in
 * batches, and kept for replay. Backpressure: output is never faster than the slowest follower, up to a bound. Observers
 * see what they can take, and hold nothing.
 */
export class OutputChannel implements Disposable {
  readonly #sessionId: string | null;
  readonly #ring: ReplayRing<OutputEvent>;
  readonly #followers = new Map<string, Follower>();
  readonly #observers: Observers;
  readonly #hold: (command: Command, isHeld: boolean) => void;
  readonly #batch = new OutputBatch();
  #flushTimer: NodeJS.Timeout | undefined;
  #lastFlush = -Infinity;
  /** Commands whose output goes to the followers. */
  readonly #opened = new WeakSet<Command>();
  /** Commands that may print, and those paused for a slow client: the latter include commands with background jobs. */
  readonly #active = new Set<Command>();
  readonly #held = new Set<Command>();
  #isBehind = false;

  /**
   * @param replayBytes budget for events kept for `attach_session`
   * @param hold pauses a command for a slow client, or resumes it
   */
  constructor(sessionId: string | null, replayBytes: number, hold: (command: Command, isHeld: boolean) => void) {
    this.#sessionId = sessionId;
    this.#ring = new ReplayRing(replayBytes);
    this.#observers = new Observers(sessionId);
    this.#hold = hold;
  }

  /** Sequence number of the next event. */
  get nextSeq(): number {
    return this.#ring.nextSeq;
  }

  /** Number of clients for which commands wait. */
  get followers(): number {
    return this.#followers.size;
  }

  get observers(): number {
    return this.#observers.size;
  }

  isFollowedBy(sink: EventSink): boolean {
    return this.#followers.has(sink.id);
  }

  /** True when clients other than this one follow. */
  hasOthersThan(sink: EventSink | undefined): boolean {
    return this.#followers.size > (sink && this.#followers.has(sink.id) ? 1 : 0);
  }

  /** Sends all output to a client from now on, unless it has gone; an observer becomes a follower. */
  follow(sink: EventSink): void {
    this.#observers.remove(sink);
    if (sink.isGone === true) return;
    if (!this.#followers.has(sink.id)) this.#followers.set(sink.id, new Follower(sink, this.#sessionId));
  }

  /**
   * Sends the newest output to a client, at most at a rate; a follower becomes an observer. Observers have sequence
   * numbers of their own, since output that no follower wants is not numbered for them.
   * @param fromSeq first event to send; by default the next one
   * @returns sequence number of the next event
   */
  observe(sink: EventSink, bytesPerSecond: number, fromSeq: number | undefined): number {
    this.unfollow(sink);
    return this.#observers.add(sink, bytesPerSecond, fromSeq);
  }

  /** Returns true when the client was a follower. */
  unfollow(sink: EventSink): boolean {
    this.#observers.remove(sink);
    this.#followers.get(sink.id)?.outbox.forget(this.#updateHold);
    const wasThere = this.#followers.delete(sink.id);
    if (wasThere) this.#updateHold();
    return wasThere;
  }

  /** Notes that a command may print, so that it can be paused. */
  begin(command: Command): void {
    this.#active.add(command);
    command.atEnd('backpressure', () => {
      this.#active.delete(command);
      // Background jobs continue; their output pauses them again.
      if (this.#held.delete(command)) this.#hold(command, false);
    });
  }

  /** Sends a command's output to all clients from now on: as text where it is valid, or as bytes throughout. */
  open(command: Command, encoding: 'utf8' | 'base64' = 'utf8'): void {
    if (this.#opened.has(command)) return;
    this.#opened.add(command);
    for (const stream of STREAMS) {
      command[stream].follow(encoding, (piece) => {
        this.#batch.add(command, stream, piece);
        this.#flushSoon();
      });
    }
  }

  /** Sends a command’s output to the observers alone, if there are any, unless it is opened. */
  openForObservers(command: Command): void {
    if (this.#observers.size === 0 || command.stdout.isFollowed) return;
    for (const stream of STREAMS) {
      command[stream].follow('utf8', (piece) => {
        this.#observers.take(command, stream, piece);
      });
    }
  }

  /** Sends an event without a sequence number to every follower and observer, after the output before it. */
  announce<N extends EventName>(event: N, payload: EventPayload<N>): void {
    this.flush();
    for (const follower of this.#followers.values()) follower.announce(event, payload, this.nextSeq);
    this.announceToObservers(event, payload);
  }

  /** Sends an event without a sequence number to every observer, after the output before it. */
  announceToObservers<N extends EventName>(event: N, payload: EventPayload<N>): void {
    this.#observers.announce(event, payload);
  }

  /** Sends the kept events to one client again. */
  replay(sink: EventSink, fromSeq: number): Replay<unknown> {
    this.flush();
    const replay = this.#ring.since(fromSeq);
    for (const { seq, event } of replay.events) sink.send('command_output', { seq, ...event });
    return replay;
  }

  flush(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    if (this.#batch.length === 0) return;
    this.#lastFlush = performance.now();
    const entries = this.#batch.take();
    for (const entry of entries) this.#emit(entry);
    this.#updateHold();
    if (this.#isBehind) for (const { command } of entries) this.#holdOne(command);
  }

  [Symbol.dispose](): void {
    this.flush();
    for (const { outbox } of this.#followers.values()) outbox.forget(this.#updateHold);
    this.#followers.clear();
    this.#observers[Symbol.dispose]();
  }

  #flushSoon(): void {
    if (this.#batch.isLarge || performance.now() - this.#lastFlush > BATCH_MS) this.flush();
    else
      this.#flushTimer ??= setTimeout(() => {
        this.flush();
      }, BATCH_MS);
  }

  #emit(entry: BatchedOutput): void {
    const { command, stream, offset, size } = entry;
    const data = joined(entry);
    const event: OutputEvent = { command_id: command.id, session_id: this.#sessionId, stream, offset, data };
    const seq = this.#ring.push(event, size + EVENT_OVERHEAD_BYTES);
    for (const follower of this.#followers.values()) follower.sendNumbered('command_output', { seq, ...event });
    if (this.#observers.size > 0) this.#observers.take(command, stream, { offset, data });
  }

  /** Pauses commands while a follower is behind, and resumes them. */
  readonly #updateHold = (): void => {
    let isBehind = false;
    for (const follower of this.#followers.values()) {
      const backlog = follower.judge(this.nextSeq);
      if (backlog !== 'none') follower.outbox.atNextLook(this.#updateHold);
      isBehind ||= backlog === 'behind';
    }
    this.#setHeld(isBehind);
  };

  #setHeld(isHeld: boolean): void {
    this.#isBehind = isHeld;
    if (isHeld) {
      for (const command of this.#active) this.#holdOne(command);
    } else {
      for (const command of this.#held) this.#hold(command, false);
      this.#held.clear();
    }
  }

  #holdOne(command: Command): void {
    if (this.#held.has(command)) return;
    this.#held.add(command);
    this.#hold(command, true);
  }
}
