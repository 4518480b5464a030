import type { Candidate } from '../../core/llm/resolution.js';
import type { SecretMask } from '../../core/secrets.js';
import { OutputMask } from '../../engine/output/output-mask.js';
import type { CallMeter, LlmQuestion, LlmReply } from './call.js';
import type { HttpProviders } from './http-providers.js';
import type { ShellProviders } from './shell-providers.js';

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

/** Dependencies of `Providers`. */
interface ProvidersOptions {
  readonly shells: ShellProviders;
  readonly services: HttpProviders;
  readonly secrets: SecretMask;
  readonly meter: CallMeter;
}

/** Calls any provider, a tool or a service. Calls are counted, and secrets in the pieces of the answer are masked. */
export class Providers {
  readonly #options: ProvidersOptions;

  constructor(options: ProvidersOptions) {
    this.#options = options;
  }

  /**
   * Calls a provider.
   * @throws AdapterError PROVIDER_NOT_FOUND, LLM_…
   */
  async ask(candidate: Candidate, question: LlmQuestion & { readonly timeoutMs: number }): Promise<LlmReply> {
    const { secrets, meter } = this.#options;
    const mask = question.onChunk && new ChunkMask(secrets.textPatterns, question.onChunk);
    const masked = { ...question, onChunk: mask?.push };
    let isWhole = false;
    question.progress?.asking(candidate);
    try {
      const reply = await meter.measure(candidate, () => this.#ask(candidate, masked));
      isWhole = true;
      return reply;
    } finally {
      // An answer that has failed before any piece was passed on is discarded: another provider may be called.
      if (isWhole || mask?.hasGiven === true) mask?.end();
    }
  }

  #ask(
    { provider, shellProvider }: Candidate,
    question: LlmQuestion & { readonly timeoutMs: number },
  ): Promise<LlmReply> {
    const { shells, services } = this.#options;
    if (provider !== 'shell') question.progress?.running();
    return provider === 'shell' ? shells.ask(shellProvider, question) : services.ask(provider, question);
  }
}
