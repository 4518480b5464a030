import type { FastifyReply, FastifyRequest } from 'fastify';

import type { Authentication } from '../../services/access/access.js';
import type { EventSink } from '../../services/registry/caller.js';
import type { Services } from '../../services/services.js';
import { beginConnection, endConnection, onAccessEnd } from '../connection.js';
import { EventStream } from '../http/event-stream.js';
import { whenOver } from '../http/gone-signal.js';
import { type Asked, errorIn, type RestAnswer, sendAnswer } from './answer.js';
import { EventStreamSink } from './event-stream-sink.js';
import { endNameOf, StreamEnd, subscriptionEnd } from './stream-end.js';

/** Where an answer goes, and how it is made. */
export interface StreamContext extends Pick<Authentication, 'ended'> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly services: Services;
  /** Never rejects. */
  readonly answer: (asked: Asked, sink: EventSink) => Promise<RestAnswer>;
}

/**
 * Answers a request with server-sent events: those of the protocol, and `NAME_result` with the answer. The stream ends
 * with the answer, or, after one that begins a subscription, with what was subscribed to. An error before any event is
 * sent as JSON, with its status.
 */
export async function streamAnswer(given: Asked, context: StreamContext): Promise<FastifyReply> {
  const { reply, services } = context;
  const asked = { ...given, payload: withStream(given) };
  const stream = new EventStream();
  const streamEnd = new StreamEnd(() => {
    stream.end(false);
  });
  const sink = new EventStreamSink(stream, services.secrets.value, (event, payload) => {
    streamEnd.note(endNameOf(event, payload));
  });
  const answering = context.answer(asked, sink);
  attend(asked, { stream, sink, answering }, context);
  const first = await Promise.race([stream.begun, answering]);
  if (first && errorIn(first.reply) && !stream.hasBegun) {
    stream.destroy();
    return sendAnswer(reply, first);
  }
  void answering.then((answer) => {
    stream.sendText(`${asked.name}_result`, answer.text);
    streamEnd.await(subscriptionEnd(asked, answer));
  });
  return reply
    .type('text/event-stream; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('x-accel-buffering', 'no')
    .send(stream.body);
}

/** A stream under way. */
interface Streaming {
  readonly stream: EventStream;
  readonly sink: EventSink;
  readonly answering: Promise<RestAnswer>;
}

/** Keeps the client among the connections until its connection, or its access, ends. */
function attend(asked: Asked, { stream, sink, answering }: Streaming, context: StreamContext): void {
  const { request, reply, services } = context;
  const caller = asked.callerWith(sink);
  beginConnection(services, caller);
  const stopWatching = onAccessEnd(context, (message) => {
    sink.send('access_ended', { message });
    stream.end(false);
  });
  void whenOver(request, reply).then(async () => {
    stopWatching();
    services.connections.remove(caller);
    // A request with a key goes on: its client comes back for the answer.
    if (asked.key !== undefined) await answering;
    endConnection(services, sink);
  });
}

/** A client that wants events wants those of its command. */
function withStream({ name, payload }: Asked): unknown {
  if (name !== 'execute_command' || typeof payload !== 'object' || payload === null || Array.isArray(payload))
    return payload;
  return { stream: true, ...payload };
}
