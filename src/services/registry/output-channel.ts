import type { Piece } from '../../core/output/utf8.js';
import type { OutputStreamName } from '../../core/protocol/fields.js';
import type { EventName, EventPayload } from '../../core/protocol/results.js';
import { type Replay, ReplayRing } from '../../core/replay-ring.js';
import type { Command } from '../../engine/command/command.js';
import { type EventSink, isBehind, type Marks } from './caller.js';

/** Marks of a client whose transport has none. */
const DEFAULT_MARKS: Marks = { high: 1024 * 1024, low: 256 * 1024 };
/**
 * Time after which a command no longer waits for a slow client, in milliseconds: its events are dropped, and a gap is
 * announced.
 */
const STALL_MS = 5000;

/** How far a client has got: with the newest event, behind it, or so long behind that its events are dropped. */
type FollowerState = 'abreast' | 'behind' | 'stalled';

/** A client that follows a channel at the pace of the commands, and its backlog. */
class Follower {
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
    if (isBehind(observer.sink)) return false;
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

/** Output within this time is sent in one batch, in milliseconds. */
const BATCH_MS = 4;
/** How often a follower that is behind is looked at, in milliseconds: its transport may not tell that it has drained. */
const BEHIND_POLL_MS = 50;

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
  #behindTimer: NodeJS.Timeout | undefined;
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

  /** Number of clients that observe. */
  get observers(): number {
    return this.#observers.size;
  }

  /** Whether commands wait for this client. */
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

  /** Sends the pending batch. */
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
    clearTimeout(this.#behindTimer);
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
  #updateHold(): void {
    const slow: Follower[] = [];
    let isBehind = false;
    for (const follower of this.#followers.values()) {
      const state = follower.judge(this.nextSeq);
      if (state !== 'abreast') slow.push(follower);
      isBehind ||= state === 'behind';
    }
    this.#setHeld(isBehind);
    clearTimeout(this.#behindTimer);
    this.#behindTimer = undefined;
    if (slow.length === 0) return;
    this.#behindTimer = setTimeout(this.#onDrained, BEHIND_POLL_MS);
    for (const follower of slow) follower.onDrained(this.#onDrained);
  }

  readonly #onDrained = (): void => {
    this.#updateHold();
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
