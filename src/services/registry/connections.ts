import type { Caller } from './caller.js';

/** The connections of all clients, for events that concern more than the requester. */
export class Connections {
  readonly #callers = new Set<Caller>();

  add(caller: Caller): void {
    this.#callers.add(caller);
  }

  remove(caller: Caller): void {
    this.#callers.delete(caller);
  }

  all(): Caller[] {
    return [...this.#callers];
  }
}
