import type { FastifyReply } from 'fastify';

import { ERROR_CATALOGUE } from '../../core/error-catalogue.js';
import type { ErrorBody } from '../../core/errors.js';
import type { EventName, EventPayload } from '../../core/protocol/results.js';
import { type Keepable, withJsonBytes } from '../../core/rest.js';
import type { SecretMask } from '../../core/secrets.js';
import type { TraceCarrier } from '../../core/traces.js';
import type { Caller, EventSink } from '../../services/registry/caller.js';
import type { Reply } from '../dispatch.js';
import type { EventStream } from '../http/event-stream.js';
import { errorAnswer } from '../http/http-requests.js';

/** A request as it has come. */
export interface Asked {
  readonly name: string;
  readonly payload: unknown;
  /** The caller, with a destination for its events. */
  readonly callerWith: (sink: EventSink | undefined) => Caller;
  /** Header `Idempotency-Key`; undefined without one. */
  readonly key: string | undefined;
  /** Equal for the same request with the same payload. */
  readonly fingerprint: string;
  /** The trace that it belongs to; undefined without one. */
  readonly trace: TraceCarrier | undefined;
}

/** An answer, ready to be sent. */
export interface RestAnswer extends Keepable {
  /** Status over HTTP. */
  readonly status: number;
  readonly reply: Reply;
  /** True when it is that of an earlier request with the same key. */
  readonly isRepeated: boolean;
}

/** Makes an answer of a reply. An error that the same request may not get later is not final. */
export function answerOf(reply: Reply): RestAnswer {
  const error = errorIn(reply);
  return {
    status: error ? errorAnswer(error).status : 200,
    reply,
    text: JSON.stringify(withJsonBytes(reply)),
    isFinal: error === undefined || ERROR_CATALOGUE[error.code].retry !== 'later',
    isRepeated: false,
  };
}

/** Sends an answer as JSON. */
export function sendAnswer(to: FastifyReply, { status, text, reply, isRepeated }: RestAnswer): FastifyReply {
  const error = errorIn(reply);
  to.headers(error ? errorAnswer(error).headers : { 'cache-control': 'no-store' });
  if (isRepeated) to.header('idempotent-replayed', 'true');
  return to.code(status).type('application/json; charset=utf-8').send(text);
}

/** The error of a reply; undefined for an answer. */
export const errorIn = (reply: Reply): ErrorBody | undefined => ('error' in reply ? reply.error : undefined);

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
