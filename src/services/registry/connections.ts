import type { Caller } from './caller.js';

/** The connections of all clients, for events that concern more than the requester. */
export class Connections {
  readonly #callers = new Set<Caller>();

  /** Adds a connection. */
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
