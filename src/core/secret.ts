/** A text that must not be seen where settings are shown: it neither prints nor serializes, it has to be asked for. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself. */
  reveal(): string {
    return this.#text;
  }

  toJSON(): string {
    return '(secret)';
  }
}
