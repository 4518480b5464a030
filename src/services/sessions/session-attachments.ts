import { AdapterError } from '../../core/errors.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import type { Command } from '../../engine/command/command.js';
import type { Caller, EventSink } from '../registry/caller.js';
import type { SessionRecord, SessionRegistry } from '../registry/session-registry.js';
import type { SessionUsage } from '../usage/session-usage.js';

/** Dependencies of `SessionAttachments`. */
export interface AttachmentsOptions {
  readonly sessions: SessionRegistry;
  readonly usage: Pick<SessionUsage, 'remove'>;
  /** Called when a session has lost its last follower: from now on it ends unless a client comes back in time. */
  readonly onAbandoned: () => void;
}

/** Attaches clients to sessions: as followers, for which a session waits, or as observers. */
export class SessionAttachments {
  readonly #options: AttachmentsOptions;

  constructor(options: AttachmentsOptions) {
    this.#options = options;
  }

  /**
   * Makes a client follow a session, and replays the events it missed; or makes it observe the session.
   * @throws AdapterError SESSION_NOT_FOUND; INVALID_REQUEST for a caller without events
   */
  attach(request: Request<'attach_session'>, { principal, sink }: Caller): Answer<'attach_session'> {
    const record = this.#options.sessions.get(request.session_id, principal, 'see');
    if (!sink)
      throw new AdapterError(
        'INVALID_REQUEST',
        'attach_session needs a connection that events can come over; over HTTP, send Accept: text/event-stream',
      );
    const { from_seq: fromSeq, max_bytes_per_second: rate } = request;
    if (rate !== undefined) return this.#observe(record, sink, rate, fromSeq);
    const { channel } = record;
    for (const command of commandsIn(record)) channel.open(command);
    const replay = fromSeq === undefined ? undefined : channel.replay(sink, fromSeq);
    channel.follow(sink);
    record.abandonedSince = undefined;
    return {
      session_id: record.id,
      next_seq: channel.nextSeq,
      replayed: replay?.events.length ?? 0,
      gap: replay?.gap ? { from_seq: replay.gap.fromSeq, to_seq: replay.gap.toSeq } : null,
    };
  }

  /**
   * Ends what `attach` has begun: the client neither follows nor observes the session any more.
   * @throws AdapterError SESSION_NOT_FOUND
   */
  leave({ session_id: id }: Request<'detach_session'>, { principal, sink }: Caller): Answer<'detach_session'> {
    const record = this.#options.sessions.get(id, principal, 'see');
    if (sink && record.channel.unfollow(sink)) this.#noteUnfollowed(record);
    return { session_id: id };
  }

  /** Handles the end of a connection: its sessions wait for a reconnect. */
  detach(sink: EventSink): void {
    this.#options.usage.remove(sink);
    for (const record of this.#options.sessions.all()) {
      if (record.channel.unfollow(sink)) this.#noteUnfollowed(record);
    }
  }

  /** Observers do not keep a session open. */
  #observe(record: SessionRecord, sink: EventSink, rate: number, fromSeq?: number): Answer<'attach_session'> {
    const { channel } = record;
    const wasFollowed = channel.followers > 0;
    const nextSeq = channel.observe(sink, rate, fromSeq);
    if (wasFollowed) this.#noteUnfollowed(record);
    for (const command of commandsIn(record)) channel.openForObservers(command);
    return { session_id: record.id, next_seq: nextSeq, replayed: 0, gap: null };
  }

  /** A session that no client follows any more waits for one. */
  #noteUnfollowed(record: SessionRecord): void {
    if (record.channel.followers > 0 || record.isHidden) return;
    record.abandonedSince = performance.now();
    this.#options.onAbandoned();
  }
}

/** The commands that run, or wait. */
const commandsIn = ({ session: { running, queued } }: SessionRecord): readonly Command[] =>
  running ? [running, ...queued] : queued;
