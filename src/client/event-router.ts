import type { EventName, EventPayload } from '../core/protocol/results.js';
import type { CommandOutput } from './command-output.js';
import { Listeners } from './runtime.js';

/** Range of missing event numbers of a session, both ends included. */
interface SequenceGap {
  readonly fromSeq: number;
  readonly toSeq: number;
}

/** Tracks the event numbers of one session: duplicates, gaps, and the next number. */
export class SequenceTracker {
  #next: number | undefined;

  /** @param next number of the next event; without it, the first event of any number is accepted */
  constructor(next?: number) {
    this.#next = next;
  }

  /** Number of the next new event; undefined before the first event. */
  get next(): number | undefined {
    return this.#next;
  }

  /** Records the number of an event; returns whether it is a duplicate, and the gap in front of it. */
  accept(seq: number): { readonly isDuplicate: boolean; readonly gap?: SequenceGap } {
    const expected = this.#next ?? seq;
    if (seq < expected) return { isDuplicate: true };
    this.#next = seq + 1;
    return seq === expected
      ? { isDuplicate: false }
      : { isDuplicate: false, gap: { fromSeq: expected, toSeq: seq - 1 } };
  }

  /** Records that events up to a number are dropped; returns the part of them that was not known to be missing. */
  skip(toSeq: number): SequenceGap | undefined {
    const expected = this.#next;
    if (expected !== undefined && toSeq < expected) return undefined;
    this.#next = toSeq + 1;
    return expected === undefined ? undefined : { fromSeq: expected, toSeq };
  }
}

/** A session that the client follows. */
export interface FollowedSession {
  readonly id: string;
  readonly sequence: SequenceTracker;
  /** Set for a session that is only observed. */
  readonly maxBytesPerSecond?: number | undefined;
  /** Whether its node is connected; false while a gateway has lost the connection to it. */
  isReachable: boolean;
}

/** Routes the daemon's events to commands, sessions and listeners, each event once. */
export class EventRouter {
  readonly listeners = new Listeners();
  readonly #sessions = new Map<string, FollowedSession>();
  readonly #outputs = new Map<string, { readonly output: CommandOutput; readonly sessionId: string | null }>();
  readonly #onShutdown: (reason: string) => void;
  readonly #onDaemon: (info: EventPayload<'daemon_info'>) => void;

  /**
   * @param onShutdown called when the daemon announces its shutdown
   * @param onDaemon called when a connection identifies the run of the daemon
   */
  constructor(
    onShutdown: (reason: string) => void,
    onDaemon: (info: EventPayload<'daemon_info'>) => void = () => undefined,
  ) {
    this.#onShutdown = onShutdown;
    this.#onDaemon = onDaemon;
  }

  /** Sessions whose events are routed. */
  get sessions(): FollowedSession[] {
    return [...this.#sessions.values()];
  }

  /** A followed session; undefined when it is not followed. */
  session(id: string): FollowedSession | undefined {
    return this.#sessions.get(id);
  }

  /** Routes the events of a session to it, until `leaveSession`. */
  followSession(session: Omit<FollowedSession, 'isReachable'>): void {
    this.#sessions.set(session.id, { ...session, isReachable: true });
  }

  /** Stops routing the events of a session. */
  leaveSession(id: string): void {
    this.#sessions.delete(id);
  }

  /** Routes the output of a command to its reader, until `leaveCommand`. */
  followCommand(commandId: string, sessionId: string | null, output: CommandOutput): void {
    this.#outputs.set(commandId, { output, sessionId });
  }

  /** Stops routing the output of a command. */
  leaveCommand(commandId: string): void {
    this.#outputs.delete(commandId);
  }

  /** Routes an incoming event. The daemon's payloads are trusted to match the protocol. */
  route(name: string, payload: unknown): void {
    if (name === 'command_output') this.#onOutput(payload as EventPayload<'command_output'>);
    else if (name === 'output_gap') this.#onGap(payload as EventPayload<'output_gap'>);
    else if (name === 'session_closed') this.#onSessionClosed(payload as EventPayload<'session_closed'>);
    else if (name === 'session_detached') this.#onDetached(payload as EventPayload<'session_detached'>);
    else if (name === 'session_reattached') this.#onReattached(payload as EventPayload<'session_reattached'>);
    else {
      if (name === 'server_shutdown') this.#noteShutdown(payload as EventPayload<'server_shutdown'>);
      if (name === 'daemon_info') this.#onDaemon(payload as EventPayload<'daemon_info'>);
      this.listeners.emit(name as EventName, payload as EventPayload<EventName>);
    }
  }

  /** Reports that events of a session up to a number are missing. Idempotent: each gap is reported once. */
  noteGap(sessionId: string, toSeq: number): void {
    const gap = this.#sessions.get(sessionId)?.sequence.skip(toSeq);
    if (gap) this.#announceGap({ session_id: sessionId, from_seq: gap.fromSeq, to_seq: gap.toSeq });
  }

  /** Notes whether the node of a session is connected. */
  noteReachable(sessionId: string, isReachable: boolean): void {
    const session = this.#sessions.get(sessionId);
    if (session) session.isReachable = isReachable;
  }

  /** Switches the outputs to polling whose sessions are not followed. */
  noteUnfollowed(followedSessions: ReadonlySet<string | null>): void {
    for (const { output, sessionId } of this.#outputs.values()) {
      if (!followedSessions.has(sessionId)) output.noteUnfollowed();
    }
  }

  /** The end of a worker behind a gateway is that of its sessions, and not of the connection. */
  #noteShutdown({ reason, node }: EventPayload<'server_shutdown'>): void {
    if (node === undefined) this.#onShutdown(reason);
  }

  #onOutput(event: EventPayload<'command_output'>): void {
    const { session_id: sessionId, seq, command_id: commandId, stream, offset, data } = event;
    const session = sessionId === null ? undefined : this.#sessions.get(sessionId);
    const { isDuplicate, gap } = session?.sequence.accept(seq) ?? { isDuplicate: false };
    if (isDuplicate) return;
    if (gap) this.#announceGap({ session_id: sessionId, from_seq: gap.fromSeq, to_seq: gap.toSeq });
    this.#outputs.get(commandId)?.output.push({ stream, offset, data });
    this.listeners.emit('command_output', event);
  }

  #onGap(event: EventPayload<'output_gap'>): void {
    if (event.session_id !== null && this.#sessions.has(event.session_id)) this.noteGap(event.session_id, event.to_seq);
    else this.#announceGap(event);
  }

  #announceGap(event: EventPayload<'output_gap'>): void {
    for (const { output, sessionId } of this.#outputs.values()) {
      if (sessionId === event.session_id) output.noteGap();
    }
    this.listeners.emit('output_gap', event);
  }

  #onDetached(event: EventPayload<'session_detached'>): void {
    this.noteReachable(event.session_id, false);
    this.listeners.emit('session_detached', event);
  }

  #onReattached(event: EventPayload<'session_reattached'>): void {
    this.noteReachable(event.session_id, true);
    if (event.gap) this.noteGap(event.session_id, event.gap.to_seq);
    this.listeners.emit('session_reattached', event);
  }

  #onSessionClosed(event: EventPayload<'session_closed'>): void {
    this.#sessions.delete(event.session_id);
    this.listeners.emit('session_closed', event);
  }
}
