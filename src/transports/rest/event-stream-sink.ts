import { withJsonBytes } from '../../core/rest/json-bytes.js';
import type { EventName, EventPayload } from '../../core/protocol/results.js';
import type { SecretMask } from '../../core/secrets/secret-mask.js';
import type { EventSink } from '../../services/registry/caller.js';
import type { EventStream } from '../http/event-stream.js';

/** An answer of server-sent events as a destination of the protocol's events. */
export class EventStreamSink implements EventSink {
  readonly id = crypto.randomUUID();
  readonly #stream: EventStream;
  readonly #mask: SecretMask['value'];
  readonly #onSent: (event: EventName, payload: unknown) => void;

  /** @param onSent called after each event */
  constructor(
    stream: EventStream,
    mask: SecretMask['value'],
    onSent: (event: EventName, payload: unknown) => void = () => undefined,
  ) {
    this.#stream = stream;
    this.#mask = mask;
    this.#onSent = onSent;
  }

  send<N extends EventName>(event: N, payload: EventPayload<N>): void {
    // Output was masked when it was read.
    const shown = event === 'command_output' ? payload : this.#mask(payload);
    this.#stream.sendText(event, JSON.stringify(withJsonBytes(shown)));
    this.#onSent(event, payload);
  }

  pendingBytes(): number {
    return this.#stream.pendingBytes;
  }

  onDrained(listener: () => void): void {
    this.#stream.onDrained(listener);
  }
}

/** The sink of a request whose client gets no events: what belongs to it ends with its connection. */
export const silentSink = (): EventSink => ({
  id: crypto.randomUUID(),
  send: () => undefined,
  pendingBytes: () => 0,
});
