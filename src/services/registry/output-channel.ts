import type { OutputStreamName } from '../../core/protocol/fields.js';
import type { EventName, EventPayload } from '../../core/protocol/results.js';
import { ReplayRing, type Replay } from '../../core/replay-ring.js';
import type { Piece } from '../../core/output/utf8-chunker.js';
import type { Command } from '../../engine/command/command.js';
import type { EventSink } from './caller.js';

/** Output within this time is sent in one batch, in milliseconds. */
const BATCH_MS = 4;
/** Largest event, in characters or bytes: Socket.IO clients parse whole packets. */
const MAX_EVENT_SIZE = 64 * 1024;
/** High water mark of a client's unsent bytes: above it the command is paused; below the low mark it is resumed. */
const HIGH_WATER_BYTES = 1024 * 1024;
const LOW_WATER_BYTES = 256 * 1024;
/** Poll interval for the buffers of slow clients, in milliseconds. */
const DRAIN_POLL_MS = 10;
/**
 * Time after which a command no longer waits for a slow client, in milliseconds: its events are dropped, and a gap is
 * announced.
 */
const STALL_MS = 5000;
/** Size of an event without its data, for the replay budget. */
const EVENT_OVERHEAD_BYTES = 200;

type OutputEvent = Omit<EventPayload<'command_output'>, 'seq'>;

interface Pending {
  readonly command: Command;
  readonly stream: OutputStreamName;
  readonly offset: number;
  readonly parts: (string | Uint8Array)[];
  size: number;
}

/** A client that follows the channel, and its backlog. */
interface Follower {
  readonly sink: EventSink;
  /** Sequence number of the first event that was dropped for this client. */
  missingFrom: number | undefined;
  behindSince: number | undefined;
}

/**
 * Sends the output events of one session (or of one one-shot command) to the clients that follow it: numbered, in
 * batches, and kept for replay. Backpressure: output is never faster than the slowest client, up to a bound.
 */
export class OutputChannel implements Disposable {
  readonly #sessionId: string | null;
  readonly #ring: ReplayRing<OutputEvent>;
  readonly #followers = new Map<string, Follower>();
  readonly #hold: (command: Command, isHeld: boolean) => void;
  #pending: Pending[] = [];
  #flushTimer: NodeJS.Timeout | undefined;
  #drainTimer: NodeJS.Timeout | undefined;
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
    this.#hold = hold;
  }

  /** Sequence number of the next event. */
  get nextSeq(): number {
    return this.#ring.nextSeq;
  }

  get followers(): number {
    return this.#followers.size;
  }

  /** True when clients other than this one follow. */
  hasOthersThan(sink: EventSink | undefined): boolean {
    return this.#followers.size > (sink && this.#followers.has(sink.id) ? 1 : 0);
  }

  follow(sink: EventSink): void {
    if (!this.#followers.has(sink.id)) {
      this.#followers.set(sink.id, { sink, missingFrom: undefined, behindSince: undefined });
    }
  }

  /** Returns true when the client was a follower. */
  unfollow(sink: EventSink): boolean {
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

  /** Sends an event without a sequence number to every follower, after the output before it. */
  announce<N extends EventName>(event: N, payload: EventPayload<N>): void {
    this.flush();
    for (const follower of this.#followers.values()) {
      // A client with dropped events must not take its output for complete.
      if (follower.missingFrom !== undefined) {
        this.#announceGap(follower);
        follower.missingFrom = this.nextSeq;
      }
      follower.sink.send(event, payload);
    }
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
    this.#updateHold();
    if (this.#isBehind) for (const { command } of pending) this.#holdOne(command);
  }

  [Symbol.dispose](): void {
    this.flush();
    clearTimeout(this.#drainTimer);
    this.#followers.clear();
  }

  #take(command: Command, stream: OutputStreamName, { offset, data }: Piece): void {
    const last = this.#pending.at(-1);
    const isSameKind = last && typeof last.parts[0] === typeof data;
    if (isSameKind && last.command === command && last.stream === stream && last.size + data.length <= MAX_EVENT_SIZE) {
      last.parts.push(data);
      last.size += data.length;
    } else {
      this.#pending.push({ command, stream, offset, parts: [data], size: data.length });
    }
    const waiting = this.#pending.length > 1 || (this.#pending[0]?.size ?? 0) >= MAX_EVENT_SIZE / 2;
    if (waiting || performance.now() - this.#lastFlush > BATCH_MS) this.flush();
    else
      this.#flushTimer ??= setTimeout(() => {
        this.flush();
      }, BATCH_MS);
  }

  #emit({ command, stream, offset, parts, size }: Pending): void {
    const data = joinParts(parts);
    const event: OutputEvent = { command_id: command.id, session_id: this.#sessionId, stream, offset, data };
    const seq = this.#ring.push(event, size + EVENT_OVERHEAD_BYTES);
    for (const follower of this.#followers.values()) {
      if (follower.missingFrom === undefined) follower.sink.send('command_output', { ...event, seq });
    }
  }

  /** Pauses commands while a client is behind, drops events for a stalled client, and resumes the commands. */
  #updateHold(): void {
    const states = [...this.#followers.values()].map((follower) => this.#judge(follower));
    this.#setHeld(states.includes('behind'));
    clearTimeout(this.#drainTimer);
    this.#drainTimer = undefined;
    if (states.every((state) => state === 'abreast')) return;
    this.#drainTimer = setTimeout(() => {
      this.#updateHold();
    }, DRAIN_POLL_MS);
  }

  #judge(follower: Follower): 'abreast' | 'behind' | 'stalled' {
    const now = performance.now();
    const pending = follower.sink.pendingBytes();
    if (pending > HIGH_WATER_BYTES) follower.behindSince ??= now;
    if (follower.behindSince === undefined) return 'abreast';
    if (pending <= LOW_WATER_BYTES) {
      this.#catchUp(follower);
      return 'abreast';
    }
    if (now - follower.behindSince < STALL_MS) return 'behind';
    follower.missingFrom ??= this.nextSeq;
    return 'stalled';
  }

  #catchUp(follower: Follower): void {
    follower.behindSince = undefined;
    this.#announceGap(follower);
    follower.missingFrom = undefined;
  }

  #announceGap({ sink, missingFrom = this.nextSeq }: Follower): void {
    if (missingFrom === this.nextSeq) return;
    sink.send('output_gap', { session_id: this.#sessionId, from_seq: missingFrom, to_seq: this.nextSeq - 1 });
  }

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

function joinParts(parts: readonly (string | Uint8Array)[]): string | Uint8Array {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  return typeof first === 'string' ? parts.join('') : Buffer.concat(parts as readonly Uint8Array[]);
}
