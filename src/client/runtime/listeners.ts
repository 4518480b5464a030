import type { EventName, EventPayload } from '../../core/protocol/results.js';

/** Takes one kind of the daemon's events. */
export type EventListener<N extends EventName> = (payload: EventPayload<N>) => void;

/** The listeners of a client, by event. */
export class Listeners {
  readonly #listeners = new Map<EventName, Set<(payload: never) => void>>();

  /** Adds a listener; gives what removes it. */
  add<N extends EventName>(event: N, listener: EventListener<N>): () => void {
    // A function of its own, so that the same listener added twice is called twice and removed one by one.
    const entry = (payload: EventPayload<N>) => {
      listener(payload);
    };
    const entries = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, entries);
    entries.add(entry);
    return () => entries.delete(entry);
  }

  /** Calls the listeners of an event. One that throws does not keep the others, or the client, from going on. */
  emit<N extends EventName>(event: N, payload: EventPayload<N>): void {
    for (const listener of [...(this.#listeners.get(event) ?? [])] as EventListener<N>[]) {
      try {
        listener(payload);
      } catch (error) {
        // It is the program's fault, and comes up as one.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  clear(): void {
    this.#listeners.clear();
  }
}
