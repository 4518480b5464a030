import { findSecrets } from './spans.js';

/** What stands in the place of a secret. */
export const MASK = '***';

/** Fewest characters of a secret: a shorter one would be found in words that have nothing to do with it. */
export const MIN_SECRET_CHARACTERS = 8;

/**
 * The texts to look for, for some secrets: a secret of several lines is looked for line by line, because a terminal ends
 * lines otherwise than a file does. Lines that are too short are left out.
 */
export const patternsOf = (secrets: readonly string[]): readonly string[] => [
  ...new Set(
    secrets
      .flatMap((secret) => secret.split(/\r?\n/))
      .map((line) => line.trim())
      .filter((line) => Array.from(line).length >= MIN_SECRET_CHARACTERS),
  ),
];

/** Masks the configured secrets in texts. Which ones there are may change. */
export class SecretMask {
  #patterns: readonly string[] = [];
  /** Also as they stand inside a JSON text. */
  #texts: readonly string[] = [];

  constructor(secrets: readonly string[] = []) {
    this.replace(secrets);
  }

  /** What is looked for in output: no two are the same, the longest first. */
  get patterns(): readonly string[] {
    return this.#patterns;
  }

  /** What is looked for in texts: also secrets as they stand inside a JSON text. */
  get textPatterns(): readonly string[] {
    return this.#texts;
  }

  /** Takes other secrets. */
  replace(secrets: readonly string[]): void {
    const byLength = (a: string, b: string) => b.length - a.length;
    this.#patterns = [...patternsOf(secrets)].sort(byLength);
    const quoted = this.#patterns.map((pattern) => JSON.stringify(pattern).slice(1, -1));
    this.#texts = [...new Set([...this.#patterns, ...quoted])].sort(byLength);
  }

  /** The text with every secret masked. */
  readonly text = (text: string): string => {
    const spans = findSecrets(text, this.#texts);
    if (spans.length === 0) return text;
    const kept = spans.map(({ start }, index) => text.slice(spans[index - 1]?.end ?? 0, start));
    return [...kept, text.slice(spans.at(-1)?.end)].join(MASK);
  };

  /**
   * A value as it goes over the wire, with every text in it masked, names of fields included; bytes are left alone. The same
   * one where there are no secrets.
   */
  readonly value = <T>(value: T): T => (this.#texts.length === 0 ? value : (this.#deep(value) as T));

  #deep(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((entry) => this.#deep(entry));
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [this.text(key), this.#deep(inner)]));
  }
}
