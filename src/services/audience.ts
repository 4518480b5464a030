import type { EventName, EventPayload } from '../core/protocol/results.js';

/** Where events go: one connection of a client. Transports implement it. */
export interface EventSink {
  /** Names the connection in logs. */
  readonly id: string;
  /** Sends an event; never throws, never waits. */
  send<N extends EventName>(event: N, payload: EventPayload<N>): void;
  /** Bytes that were sent and have not left the daemon yet. */
  pendingBytes(): number;
}
