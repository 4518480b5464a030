import { OutputMask } from '../engine/output/output-mask.js';

/** Matches a trailing high surrogate: the low surrogate follows in the next piece. */
const HALF = /[\uD800-\uDBFF]$/;

/**
 * Masks secrets in an answer that is streamed in pieces, wherever these end: a model splits words. Text that may be the
 * start of a secret is held back until the following text is known.
 */
export class ChunkMask {
  readonly #mask: OutputMask | undefined;
  readonly #onChunk: (text: string) => void;
  #half = '';
  #hasGiven = false;

  /** @param patterns see `patternsOf` */
  constructor(patterns: readonly string[], onChunk: (text: string) => void) {
    this.#mask = patterns.length === 0 ? undefined : new OutputMask(patterns);
    this.#onChunk = onChunk;
  }

  /** True when text was passed on. */
  get hasGiven(): boolean {
    return this.#hasGiven;
  }

  readonly push = (text: string): void => {
    if (!this.#mask) {
      this.#give(text);
      return;
    }
    const whole = this.#half + text;
    this.#half = HALF.exec(whole)?.[0] ?? '';
    this.#give(this.#mask.push(Buffer.from(whole.slice(0, whole.length - this.#half.length))).toString());
  };

  /** Passes on the text held back, at the end of the answer. */
  end(): void {
    if (!this.#mask) return;
    this.#give(`${this.#mask.flush().toString()}${this.#half}`);
  }

  #give(text: string): void {
    if (text === '') return;
    this.#hasGiven = true;
    this.#onChunk(text);
  }
}
