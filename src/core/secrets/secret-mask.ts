import { findSecrets } from './spans.js';

/** Replacement for a secret. */
export const MASK = '***';

/** Fewest characters of a secret: a shorter one would also match in unrelated words. */
export const MIN_SECRET_CHARACTERS = 8;

/**
 * Search patterns for secrets. A secret of several lines is searched line by line, because a terminal uses other line
 * ends than a file. Lines that are too short are omitted.
 */
export const patternsOf = (secrets: readonly string[]): readonly string[] => [
  ...new Set(
    secrets
      .flatMap((secret) => secret.split(/\r?\n/))
      .map((line) => line.trim())
      .filter((line) => Array.from(line).length >= MIN_SECRET_CHARACTERS),
  ),
];

/** Masks the configured secrets in texts. The set of secrets may change. */
export class SecretMask {
  #patterns: readonly string[] = [];
  /** Includes the JSON-escaped form of each secret. */
  #texts: readonly string[] = [];

  constructor(secrets: readonly string[] = []) {
    this.replace(secrets);
  }

  /** Patterns for command output: without duplicates, the longest first. */
  get patterns(): readonly string[] {
    return this.#patterns;
  }

  /** Patterns for texts: also includes the JSON-escaped form of each secret. */
  get textPatterns(): readonly string[] {
    return this.#texts;
  }

  /** Replaces the set of secrets. */
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
   * A value in wire format with all texts in it masked, including field names; bytes are unchanged. Returns the same
   * value when there are no secrets.
   */
  readonly value = <T>(value: T): T => (this.#texts.length === 0 ? value : (this.#maskDeep(value) as T));

  #maskDeep(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((entry) => this.#maskDeep(entry));
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [this.text(key), this.#maskDeep(inner)]));
  }
}
