import type { EventName, EventPayload } from '../../core/protocol/results.js';

/** Listener for one kind of the daemon's events. */
export type EventListener<N extends EventName> = (payload: EventPayload<N>) => void;

/** The listeners of a client, by event. */
export class Listeners {
  readonly #listeners = new Map<EventName, Set<(payload: never) => void>>();

  /** Adds a listener; returns a function that removes it. */
  add<N extends EventName>(event: N, listener: EventListener<N>): () => void {
    // A separate function per call, so that a listener that is added twice is called twice and removed one by one.
    const entry = (payload: EventPayload<N>) => {
      listener(payload);
    };
    const entries = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, entries);
    entries.add(entry);
    return () => entries.delete(entry);
  }

  /** Calls the listeners of an event. An exception in one does not affect the others or the client. */
  emit<N extends EventName>(event: N, payload: EventPayload<N>): void {
    for (const listener of [...(this.#listeners.get(event) ?? [])] as EventListener<N>[]) {
      try {
        listener(payload);
      } catch (error) {
        // The error is a bug of the calling program, and is reported there as an uncaught exception.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  /** Removes all listeners of all events. */
  clear(): void {
    this.#listeners.clear();
  }
}
