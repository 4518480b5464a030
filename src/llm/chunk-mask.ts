import { OutputMask } from '../engine/output/output-mask.js';

/** Half of a character that is two code units: what follows belongs to it. */
const HALF = /[\uD800-\uDBFF]$/;

/**
 * Masks secrets in an answer that comes in pieces, wherever these end: a model says a word in several of them. What a secret may begin
 * with is held back until it is known what follows.
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

  /** Whether something was given out. */
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

  /** Nothing more comes. */
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
