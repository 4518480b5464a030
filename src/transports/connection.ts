import type { Caller, EventSink } from '../services/registry/caller.js';
import type { Services } from '../services/services.js';

/** Notes a connection that events can be sent to. */
export function beginConnection(services: Services, caller: Caller): void {
  services.connections.add(caller);
  services.cluster.attach(caller);
}

/** Ends what belongs to a connection, or has it wait for the client's return. Harmless when there is nothing. */
export function endConnection(services: Services, sink: EventSink): void {
  sink.isGone = true;
  services.confirmations.detach(sink);
  services.inputs.detach(sink);
  services.sessions.attachments.detach(sink);
  services.llm.detach(sink);
  services.subscriptions.detach(sink);
  services.watching.detach(sink);
  services.cluster.detach(sink);
}

/** Calls the listener when an authentication ends, by its signal, until the returned function is called. */
export function onAccessEnd(ended: AbortSignal | undefined, listener: (message: string) => void): () => void {
  if (!ended) return () => undefined;
  const notify = () => {
    listener((ended.reason as Error).message);
  };
  ended.addEventListener('abort', notify, { once: true });
  // The token may have ended while the connection was being established.
  if (ended.aborted) setImmediate(notify);
  return () => {
    ended.removeEventListener('abort', notify);
  };
}
