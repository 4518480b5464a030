import type { Principal } from '../../core/access/principal.js';
import type { EventName, EventPayload } from '../../core/protocol/results.js';

/** Where events go: one connection of a client. Transports implement it. */
export interface EventSink {
  /** Names the connection in logs. */
  readonly id: string;
  /** Sends an event; never throws, never waits. */
  send<N extends EventName>(event: N, payload: EventPayload<N>): void;
  /** Bytes that were sent and have not left the daemon yet. */
  pendingBytes(): number;
}

/** Who makes a request, and where the events go that it leads to. A transport has one for each of its clients. */
export interface Caller {
  readonly principal: Principal;
  /** Undefined where the transport has no events. */
  readonly sink: EventSink | undefined;
  /** How the connection came, for records: the transport, and the address of the other end. */
  readonly from?: string | undefined;
}
