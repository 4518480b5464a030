import type { EventName, EventPayload } from '../../core/protocol/results.js';
import { ReplayRing, type Replay } from '../../core/replay-ring.js';
import type { Command } from '../../engine/command/command.js';
import type { EventSink } from './caller.js';
import { Follower } from './follower.js';
import { Observers } from './observers.js';
import { type BatchedOutput, joined, OutputBatch } from './output-batch.js';
import { EVENT_OVERHEAD_BYTES, type OutputEvent } from './output-event.js';

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

  /** Sends all output to a client from now on; an observer becomes a follower. */
  follow(sink: EventSink): void {
    this.#observers.remove(sink);
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
