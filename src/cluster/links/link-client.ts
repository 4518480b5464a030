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

/** What came over the link, and is done in this order. */
interface Entry {
  readonly act: () => void;
  /** Whether it answers a request of the client. */
  readonly isReply: boolean;
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
  /** What has come after a reply that is still on its way to the client. */
  #waiting: Entry[] = [];
  #isHolding = false;
  #isAwaitingDrain = false;
  #timer: NodeJS.Timeout | undefined;
  #isGone = false;

  /** @param grant gives the worker room for so many bytes more */
  constructor(caller: LinkedCaller, grant: (bytes: number) => void) {
    this.caller = caller;
    this.#grant = grant;
  }

  /** Answers a request of the client: after the events that came before the reply, and before those that came after it. */
  reply(answer: () => void): void {
    this.#inOrder({ act: answer, isReply: true });
  }

  /** Does something after what has come over the link so far. */
  inTurn(act: () => void): void {
    this.#inOrder({ act, isReply: false });
  }

  /** Passes an event on to the client. */
  deliver(event: RelayedEvent): void {
    this.inTurn(() => {
      this.#pass(event);
    });
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

  #inOrder(entry: Entry): void {
    if (this.#waiting.length > 0 || (this.#isHolding && !entry.isReply)) {
      this.#waiting.push(entry);
      return;
    }
    entry.act();
    if (entry.isReply) this.#hold();
  }

  /** The client gets a reply some promises later, when nothing else of this turn of the event loop is left to do. */
  #hold(): void {
    if (this.#isHolding) return;
    this.#isHolding = true;
    setImmediate(this.#goOn);
  }

  readonly #goOn = (): void => {
    this.#isHolding = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const entry of waiting) this.#inOrder(entry);
  };

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
