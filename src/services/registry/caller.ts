import type { Principal } from '../../core/principal.js';
import { AdapterError } from '../../core/errors.js';
import type { RequestName } from '../../core/protocol/requests.js';
import type { EventName, EventPayload } from '../../core/protocol/results.js';

/**
 * Bounds of a client's unsent data, in bytes: a command is paused above the high mark and goes on below the low one;
 * what can be merged waits above the low mark.
 */
export interface Marks {
  readonly high: number;
  readonly low: number;
}

/** Destination of events: one connection of a client. Implemented by transports. */
export interface EventSink {
  readonly id: string;
  /** Sends an event; never throws, never blocks. */
  send<N extends EventName>(event: N, payload: EventPayload<N>): void;
  /** Bytes sent that have not left the daemon yet. */
  pendingBytes(): number;
  /** @default 1 MiB and 256 KiB */
  readonly marks?: Marks;
  /** Calls `listener` once, when unsent bytes have left. Without it the sink is looked at in intervals. */
  onDrained?(listener: () => void): void;
  /** Set when the connection has ended: what a request begins for it after that would stay for ever. */
  isGone?: boolean;
}

/** The source of a request, and the destination of its events. A transport has one for each client. */
export interface Caller {
  readonly principal: Principal;
  /** Undefined when the transport has no events. */
  readonly sink: EventSink | undefined;
  /** Origin of the connection, for records: the transport, and the address of the peer. */
  readonly from?: string | undefined;
  /** Name of the node that has sent the request on; it has counted it. Undefined for a client of this daemon. */
  readonly relayedBy?: string | undefined;
  /** Id that the other node has reserved for the session that the request opens. */
  readonly reservedSessionId?: string | undefined;
}

/**
 * Returns where the events go that a request asks for.
 * @throws AdapterError INVALID_REQUEST for a caller without events
 */
export function sinkFor(request: RequestName, { sink }: Caller): EventSink {
  if (sink) return sink;
  const message = `${request} needs a connection that events can come over; over HTTP, send Accept: text/event-stream`;
  throw new AdapterError('INVALID_REQUEST', message);
}

/** The connections of all clients, for events that concern more than the requester. */
export class Connections {
  readonly #callers = new Set<Caller>();

  add(caller: Caller): void {
    this.#callers.add(caller);
  }

  /** Removes a connection; harmless when it is not there. */
  remove(caller: Caller): void {
    this.#callers.delete(caller);
  }

  /** Returns a copy of the list: it stays the same while connections come and go. */
  all(): Caller[] {
    return [...this.#callers];
  }
}
