/** A text that must not be shown: printing, logging or serialising it gives asterisks. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The text itself. Call it only where the value is used. */
  reveal(): string {
    return this.#value;
  }

  /** Asterisks, for JSON.stringify. */
  toJSON(): string {
    return '***';
  }

  /** Asterisks, for templates and concatenation. */
  toString(): string {
    return '***';
  }
}
