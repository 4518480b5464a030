import { type Signal, signal } from '@preact/signals';

/** Most texts that are kept: those of sessions and confirmations that have ended stay until then. */
const MAX_DRAFTS = 200;

/**
 * What was typed into the pages and not sent yet. It outlives the pages, a lost connection and an ended token; it is kept in memory
 * alone, and forgotten when its user signs out or another one signs in.
 */
export class Drafts {
  readonly #texts = new Map<string, Signal<string>>();
  #owner: string | undefined;

  /** The text of a field, by a key that names the field and what it is about. */
  of(key: string): Signal<string> {
    const text = this.#texts.get(key) ?? signal('');
    this.#texts.delete(key);
    this.#texts.set(key, text);
    for (const oldest of this.#texts.keys()) {
      if (this.#texts.size <= MAX_DRAFTS) break;
      this.#texts.delete(oldest);
    }
    return text;
  }

  /** Forgets what another one has typed. */
  belongTo(name: string): void {
    if (this.#owner !== undefined && this.#owner !== name) this.clear();
    this.#owner = name;
  }

  /** Forgets all texts. */
  clear(): void {
    this.#texts.clear();
    this.#owner = undefined;
  }
}
