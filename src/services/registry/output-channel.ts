import type { OutputStreamName } from '../../core/protocol/fields.js';
import type { EventName, EventPayload } from '../../core/protocol/results.js';
import { ReplayRing, type Replay } from '../../core/replay-ring.js';
import type { Piece } from '../../core/output/utf8-chunker.js';
import type { Command } from '../../engine/command/command.js';
import type { EventSink } from './caller.js';
import { Follower } from './follower.js';
import { Observers } from './observers.js';
import { EVENT_OVERHEAD_BYTES, MAX_EVENT_SIZE, type OutputEvent } from './output-event.js';

/** Output within this time is sent in one batch, in milliseconds. */
const BATCH_MS = 4;
/** How often a follower that is behind is looked at, in milliseconds: its transport may not tell that it has drained. */
const BEHIND_POLL_MS = 50;

interface Pending {
  readonly command: Command;
  readonly stream: OutputStreamName;
  readonly offset: number;
  readonly parts: (string | Uint8Array)[];
  size: number;
}

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
  #pending: Pending[] = [];
  #flushTimer: NodeJS.Timeout | undefined;
  #behindTimer: NodeJS.Timeout | undefined;
  #lastFlush = -Infinity;
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
    this.#observers = new Observers(sessionId, this.#ring);
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

  /** True when clients other than this one follow or observe. */
  hasOthersThan(sink: EventSink | undefined): boolean {
    if (this.#observers.size > 0) return true;
    return this.#followers.size > (sink && this.#followers.has(sink.id) ? 1 : 0);
  }

  /** Sends all output to a client from now on; an observer becomes a follower. */
  follow(sink: EventSink): void {
    this.#observers.remove(sink);
    if (!this.#followers.has(sink.id)) this.#followers.set(sink.id, new Follower(sink, this.#sessionId));
  }

  /**
   * Sends the newest output to a client, at most at a rate; a follower becomes an observer.
   * @param fromSeq first event to send; by default the next one
   */
  observe(sink: EventSink, bytesPerSecond: number, fromSeq = this.nextSeq): void {
    this.flush();
    this.unfollow(sink);
    this.#observers.add(sink, bytesPerSecond, fromSeq);
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

  /** Sends a command's output as events from now on: as text where it is valid, or as bytes throughout. */
  open(command: Command, encoding: 'utf8' | 'base64' = 'utf8'): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      if (command[stream].isFollowed) continue;
      command[stream].follow(encoding, (piece) => {
        this.#take(command, stream, piece);
      });
    }
  }

  /** Sends an event without a sequence number to every follower and observer, after the output before it. */
  announce<N extends EventName>(event: N, payload: EventPayload<N>): void {
    this.flush();
    for (const follower of this.#followers.values()) follower.announce(event, payload, this.nextSeq);
    this.#observers.announce(event, payload);
  }

  /** Sends the kept events to one client again. */
  replay(sink: EventSink, fromSeq: number): Replay<unknown> {
    this.flush();
    const replay = this.#ring.since(fromSeq);
    for (const { seq, event } of replay.events) sink.send('command_output', { ...event, seq });
    return replay;
  }

  /** Sends the pending batch. */
  flush(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    if (this.#pending.length === 0) return;
    this.#lastFlush = performance.now();
    const pending = this.#pending;
    this.#pending = [];
    for (const entry of pending) this.#emit(entry);
    this.#observers.noteOutput();
    this.#updateHold();
    if (this.#isBehind) for (const { command } of pending) this.#holdOne(command);
  }

  [Symbol.dispose](): void {
    this.flush();
    clearTimeout(this.#behindTimer);
    this.#followers.clear();
    this.#observers[Symbol.dispose]();
  }

  #take(command: Command, stream: OutputStreamName, { offset, data }: Piece): void {
    const last = this.#pending.at(-1);
    if (last?.command === command && last.stream === stream && hasRoomFor(data, last)) {
      last.parts.push(data);
      last.size += data.length;
    } else {
      this.#pending.push({ command, stream, offset, parts: [data], size: data.length });
    }
    if (this.#isDue()) this.flush();
    else
      this.#flushTimer ??= setTimeout(() => {
        this.flush();
      }, BATCH_MS);
  }

  /** Whether the pending output is sent at once, and not with what follows it. */
  #isDue(): boolean {
    if (this.#pending.length > 1 || (this.#pending[0]?.size ?? 0) >= MAX_EVENT_SIZE / 2) return true;
    return performance.now() - this.#lastFlush > BATCH_MS;
  }

  #emit({ command, stream, offset, parts, size }: Pending): void {
    const data = joinParts(parts);
    const event: OutputEvent = { command_id: command.id, session_id: this.#sessionId, stream, offset, data };
    const seq = this.#ring.push(event, size + EVENT_OVERHEAD_BYTES);
    for (const follower of this.#followers.values()) follower.sendNumbered('command_output', { ...event, seq });
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

/** Whether an event can take more data: an event is text or bytes, and has a maximum size. */
const hasRoomFor = (data: string | Uint8Array, { parts, size }: Pending): boolean =>
  typeof parts[0] === typeof data && size + data.length <= MAX_EVENT_SIZE;

function joinParts(parts: readonly (string | Uint8Array)[]): string | Uint8Array {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  return typeof first === 'string' ? parts.join('') : Buffer.concat(parts as readonly Uint8Array[]);
}
