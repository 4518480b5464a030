import type { Candidate } from '../core/llm/resolution.js';
import type { SecretMask } from '../core/secrets/secret-mask.js';
import type { LlmQuestion, LlmReply } from './call.js';
import type { CallMeter } from './call-meter.js';
import { ChunkMask } from './chunk-mask.js';
import type { HttpProviders } from './http-providers.js';
import type { ShellProviders } from './shell-providers.js';

/** Dependencies of `Providers`. */
export interface ProvidersOptions {
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
