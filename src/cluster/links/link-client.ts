import { Receipts } from '../../core/cluster/credit.js';
import type { EventName, EventPayload } from '../../core/protocol/results.js';
import type { Socket } from 'socket.io-client';

import type { EventSink } from '../../services/registry/caller.js';
import type { LinkedCaller } from './link-types.js';

/** A client gets no credit while its own connection has more unsent bytes than this. */
const MAX_UNSENT_BYTES = 128 * 1024;
/** Least credit of one message, in bytes. */
const CREDIT_STEP_BYTES = 16 * 1024;
/** How often a client whose transport does not tell that it has drained is looked at, in milliseconds. */
const POLL_MS = 20;

/** Events of subscriptions, whose first one is complete for its worker only. */
const PARTIAL: ReadonlySet<EventName> = new Set(['sessions_changed', 'commands_changed', 'llm_changed']);

const partOf = (payload: object): never => ({ ...payload, complete: undefined }) as never;

/** A session whose events a client gets. */
export interface FollowedSession {
  /** `seq` of the next event. */
  readonly nextSeq: number;
  /** Rate of an observer; undefined for a follower. */
  readonly maxBytesPerSecond?: number | undefined;
}

/** An event of a worker for a client. */
interface RelayedEvent {
  readonly name: EventName;
  readonly payload: never;
  readonly bytes: number;
}

/** A client of this node on one link: what it follows there, and the flow of its events. */
export class LinkClient {
  readonly caller: LinkedCaller;
  /** Sessions whose events it gets, by id: those that it has opened, attached to, or streams a command of. */
  readonly sessions = new Map<string, FollowedSession>();
  readonly watches = new Set<string>();
  /** Payloads of requests whose effect ends with the connection, and which are made again: by what they are about. */
  readonly standing = new Map<string, { readonly name: 'watch_resources'; readonly payload: unknown }>();
  /** Whether the worker knows it: an announcement holds for one connection. */
  isAnnounced = false;
  /** The connection over which it was announced. */
  socket: Socket | undefined;
  readonly #grant: (bytes: number) => void;
  readonly #receipts = new Receipts(CREDIT_STEP_BYTES);
  #held: RelayedEvent[] | undefined;
  #isAwaitingDrain = false;
  #timer: NodeJS.Timeout | undefined;
  #isGone = false;

  /** @param grant gives the worker room for so many bytes more */
  constructor(caller: LinkedCaller, grant: (bytes: number) => void) {
    this.caller = caller;
    this.#grant = grant;
  }

  /** Holds the events back that follow a reply, until the reply has been sent to the client. */
  holdForReply(): void {
    if (this.#held) return;
    this.#held = [];
    setImmediate(() => {
      const held = this.#held ?? [];
      this.#held = undefined;
      for (const event of held) this.#pass(event);
    });
  }

  /** Passes an event on to the client. */
  deliver(event: RelayedEvent): void {
    if (this.#held) this.#held.push(event);
    else this.#pass(event);
  }

  /** Sends an event of this node itself, after those of the worker before it. */
  tell<N extends EventName>(name: N, payload: EventPayload<N>): void {
    this.deliver({ name, payload: payload as never, bytes: 0 });
  }

  /** Notes that the client has gone. */
  end(): void {
    this.#isGone = true;
    clearTimeout(this.#timer);
  }

  #pass({ name, payload, bytes }: RelayedEvent): void {
    if (this.#isGone) return;
    this.#note(name, payload);
    this.caller.sink.send(name, PARTIAL.has(name) ? partOf(payload) : payload);
    if (bytes === 0) return;
    this.#receipts.take(bytes);
    this.#settle();
  }

  #note(name: EventName, payload: never): void {
    if (name === 'command_output') {
      const { session_id: id, seq } = payload as EventPayload<'command_output'>;
      if (id !== null) this.sessions.set(id, { ...this.sessions.get(id), nextSeq: seq + 1 });
    } else if (name === 'session_closed') {
      this.sessions.delete((payload as EventPayload<'session_closed'>).session_id);
    } else if (name === 'watch_ended') {
      this.watches.delete((payload as EventPayload<'watch_ended'>).watch_id);
    }
  }

  readonly #settle = (): void => {
    const { sink } = this.caller;
    if (this.#isGone) return;
    if (sink.pendingBytes() > MAX_UNSENT_BYTES) {
      this.#settleLater(sink);
      return;
    }
    const credit = this.#receipts.settle();
    if (credit > 0) this.#grant(credit);
  };

  #settleLater(sink: EventSink): void {
    if (this.#isAwaitingDrain) return;
    this.#isAwaitingDrain = true;
    const go = () => {
      if (!this.#isAwaitingDrain) return;
      this.#isAwaitingDrain = false;
      clearTimeout(this.#timer);
      this.#settle();
    };
    sink.onDrained?.(go);
    this.#timer = setTimeout(go, POLL_MS);
  }
}
