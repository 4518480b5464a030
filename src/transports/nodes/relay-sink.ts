import { linkSizeOf, SendWindow } from '../../core/cluster/credit.js';
import type { EventName, EventPayload } from '../../core/protocol/results.js';
import type { SecretMask } from '../../core/secrets/secret-mask.js';
import type { EventSink, Marks } from '../../services/registry/caller.js';

/** An event on its way to the node of a client. */
interface OutgoingEvent {
  readonly client: string;
  readonly name: EventName;
  readonly payload: unknown;
  readonly bytes: number;
  /** The `data` of the payload, which is without. */
  readonly text?: Uint8Array | undefined;
}

/** Fewest characters of output that are sent as bytes: they take a frame of their own, and no time to be written as JSON. */
const MIN_TEXT = 1024;
/** Half of a character, which UTF-8 cannot have. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Dependencies of a sink. */
export interface RelaySinkOptions {
  /** Id of the client at its own node. */
  readonly client: string;
  /** Unlike that of any client of another node, or of this one. */
  readonly id: string;
  /** Name of this node. */
  readonly node: string;
  readonly windowBytes: number;
  /** Whether the node of the client takes long output as bytes: earlier releases do not. */
  readonly takesText: boolean;
  readonly mask: SecretMask['value'];
  readonly emit: (event: OutgoingEvent) => void;
}

/** A client of another node as a destination of events: its output is held while its node has given no credit. */
export class RelaySink implements EventSink {
  readonly id: string;
  readonly marks: Marks;
  readonly #options: RelaySinkOptions;
  readonly #window: SendWindow;

  constructor(options: RelaySinkOptions) {
    this.#options = options;
    this.id = options.id;
    this.#window = new SendWindow(options.windowBytes);
    this.marks = this.#window.marks;
  }

  send<N extends EventName>(event: N, payload: EventPayload<N>): void {
    const { client, emit, mask, node } = this.#options;
    const bytes = linkSizeOf(event, payload);
    this.#window.send(bytes);
    if (event === 'command_output') {
      // Output was masked when it was read.
      emit({ client, name: event, bytes, ...this.#outputOf(payload as EventPayload<'command_output'>) });
      return;
    }
    const shown = mask(payload);
    // The gateway of the client goes on.
    emit({ client, name: event, payload: event === 'server_shutdown' ? { ...shown, node } : shown, bytes });
  }

  #outputOf(payload: EventPayload<'command_output'>): Pick<OutgoingEvent, 'payload' | 'text'> {
    const { data } = payload;
    const isLong = typeof data === 'string' && data.length >= MIN_TEXT && this.#options.takesText;
    if (!isLong || LONE_SURROGATE.test(data)) return { payload };
    return { payload: { ...payload, data: '' }, text: Buffer.from(data) };
  }

  pendingBytes(): number {
    return this.#window.pending;
  }

  onDrained(listener: () => void): void {
    this.#window.onDrained(listener);
  }

  /** Takes credit of the client's node. */
  credit(bytes: number): void {
    this.#window.credit(bytes);
  }
}
