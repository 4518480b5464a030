import type { AnswerFormat, LlmUsage } from '../../core/llm/answer.js';
import type { LlmMessage } from '../../core/llm/messages.js';
import { type Candidate, type Choice, nameOf, resolveProviders } from '../../core/llm/resolution.js';
import { type AccessMode, HTTP_PROVIDERS, type LlmSettings } from '../../core/llm/settings.js';
import { AdapterError, type ErrorCode } from '../../core/errors.js';
import { type Metrics, providerLabels } from '../../core/metrics.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import type { SecretMask } from '../../core/secrets.js';
import type { ResourceUse } from '../../engine/command/resource-use.js';
import { OutputMask } from '../../engine/output/output-mask.js';
import type { Execution } from '../executions.js';
import type { HttpProviders } from './http-providers.js';
import type { ShellCatalogue } from './shell-catalogue.js';
import type { ShellProviders } from './shell-providers.js';

export interface LlmQuestion {
  readonly messages: readonly LlmMessage[];
  /** Undefined for the provider's default. */
  readonly model: string | undefined;
  /** Absolute path of the directory in which a command-line tool runs. */
  readonly cwd: string;
  /** True when the messages contain the repository's AGENTS.md: a tool need not read it again. */
  readonly hasAgentFile?: boolean;
  /** Undefined for text. */
  readonly format?: AnswerFormat | undefined;
  /** Access of a tool; undefined for the provider's default. */
  readonly access?: AccessMode | undefined;
  /** True when a tool may only read, whatever its provider grants, and runs in an empty directory. */
  readonly isReadOnly?: boolean;
  /** Timeout of the answer, in milliseconds. */
  readonly timeoutMs: number;
  /** True when the answer is also reported in pieces, as it arrives. */
  readonly isStreamed: boolean;
  readonly signal: AbortSignal;
  /** What runs a command-line tool as another user; undefined for the daemon's own. */
  readonly execution?: Execution | undefined;
}

/** What is reported of a call under way, in this order. The reply or the failure of the call follows the last event. */
export type LlmEvent =
  /** A provider is asked now: a tool may still have to wait for others. */
  | { readonly type: 'asked'; readonly candidate: Candidate }
  | { readonly type: 'running' }
  /** The next piece of a streamed answer. */
  | { readonly type: 'text'; readonly text: string };

export type EmitLlmEvent = (event: LlmEvent) => void;

export interface LlmReply {
  readonly content: string;
  /** Undefined when it is not reported. */
  readonly usage: LlmUsage | undefined;
  /** Null when it is not reported. */
  readonly model: string | null;
  readonly session: string | null;
  /** True when the content is a tool's raw output; false when the tool has marked its answer. */
  readonly isText: boolean;
  /** Resource use of the run; undefined without a run. */
  readonly use?: ResourceUse;
}

/** Availability of a provider, as far as it is known without a call. */
export type Availability =
  | { readonly available: true; readonly command: string | null }
  | { readonly available: false; readonly reason: string };

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

  push(text: string): void {
    if (!this.#mask) {
      this.#give(text);
      return;
    }
    const whole = this.#half + text;
    this.#half = HALF.exec(whole)?.[0] ?? '';
    this.#give(this.#mask.push(Buffer.from(whole.slice(0, whole.length - this.#half.length))).toString());
  }

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

/** Knows all providers, tools and services. Calls are counted, and secrets in the pieces of an answer are masked. */
export class Providers {
  readonly #catalogue: ShellCatalogue;
  readonly #shells: ShellProviders;
  readonly #services: HttpProviders;
  readonly #settings: () => LlmSettings;
  readonly #secrets: SecretMask;
  readonly #metrics: Metrics;
  /** By provider. Their names are from the configuration, so that the number of metrics is bounded. */
  readonly #running = new Map<string, { readonly candidate: Candidate; calls: number }>();

  constructor(
    catalogue: ShellCatalogue,
    shells: ShellProviders,
    services: HttpProviders,
    settings: () => LlmSettings,
    secrets: SecretMask,
    metrics: Metrics,
  ) {
    this.#catalogue = catalogue;
    this.#shells = shells;
    this.#services = services;
    this.#settings = settings;
    this.#secrets = secrets;
    this.#metrics = metrics;
  }

  /** Running and queued calls, of every provider that was ever called. */
  get running(): readonly { readonly candidate: Candidate; readonly calls: number }[] {
    return [...this.#running.values()];
  }

  list(): Answer<'list_llm_providers'> {
    const describe = ({ provider, shellProvider }: Candidate, availability: Availability) => ({
      provider,
      shell_provider: shellProvider,
      available: availability.available,
      reason: availability.available ? null : availability.reason,
      command: availability.available ? availability.command : null,
    });
    return {
      providers: [
        ...this.#catalogue.names.map((name) =>
          describe({ provider: 'shell', shellProvider: name }, this.#catalogue.availability(name)),
        ),
        ...HTTP_PROVIDERS.map((name) =>
          describe({ provider: name, shellProvider: null }, this.#services.availability(name)),
        ),
      ],
      auto: this.resolve({}).map(nameOf),
    };
  }

  /**
   * The providers to try for a request, in order.
   * @throws AdapterError INVALID_REQUEST, PROVIDER_NOT_FOUND
   */
  resolve(wanted: Pick<Request<'llm_call'>, 'provider' | 'shell_provider'>): readonly Candidate[] {
    const { provider, fallback } = this.#settings();
    const { names: shellProviders } = this.#catalogue;
    const choice: Choice = { provider, fallback, shellProviders, configured: this.#services.configured };
    return resolveProviders(wanted, choice);
  }

  /** Timeout of a provider's answer when the request has none, in milliseconds. */
  timeoutMsOf({ shellProvider }: Candidate): number {
    return shellProvider === null ? this.#settings().timeoutMs : this.#catalogue.timeoutMsOf(shellProvider);
  }

  /**
   * Calls a provider.
   * @throws AdapterError PROVIDER_NOT_FOUND, LLM_…
   */
  async ask(candidate: Candidate, question: LlmQuestion, emit: EmitLlmEvent): Promise<LlmReply> {
    const mask = new ChunkMask(this.#secrets.textPatterns, (text) => {
      emit({ type: 'text', text });
    });
    let isWhole = false;
    emit({ type: 'asked', candidate });
    try {
      const reply = await this.#measure(candidate, question, (event) => {
        if (event.type === 'text') mask.push(event.text);
        else emit(event);
      });
      isWhole = true;
      return reply;
    } finally {
      // An answer that has failed before any piece was passed on is discarded: another provider may be called.
      if (isWhole || mask.hasGiven) mask.end();
    }
  }

  async #measure(candidate: Candidate, question: LlmQuestion, emit: EmitLlmEvent): Promise<LlmReply> {
    const startedAt = performance.now();
    const running = this.#runningOf(candidate);
    running.calls += 1;
    let outcome: 'ok' | ErrorCode = 'INTERNAL';
    try {
      const { provider, shellProvider } = candidate;
      const reply =
        provider === 'shell'
          ? await this.#shells.ask(shellProvider, question, emit)
          : await this.#services.ask(provider, question, emit);
      outcome = 'ok';
      if (reply.usage) this.#countTokens(candidate, reply.usage);
      return reply;
    } catch (error) {
      if (error instanceof AdapterError) outcome = error.code;
      throw error;
    } finally {
      running.calls -= 1;
      const labels = providerLabels(candidate);
      this.#metrics.count('llm_calls_total', { outcome, ...labels });
      this.#metrics.observe('llm_call_duration_seconds', (performance.now() - startedAt) / 1000, labels);
    }
  }

  #countTokens(candidate: Candidate, { prompt_tokens: prompt = 0, completion_tokens: completion = 0 }: LlmUsage): void {
    const labels = providerLabels(candidate);
    this.#metrics.count('llm_tokens_total', { kind: 'prompt', ...labels }, prompt);
    this.#metrics.count('llm_tokens_total', { kind: 'completion', ...labels }, completion);
  }

  #runningOf(candidate: Candidate): { calls: number } {
    const key = `${candidate.provider} ${nameOf(candidate)}`;
    let running = this.#running.get(key);
    if (!running) this.#running.set(key, (running = { candidate, calls: 0 }));
    return running;
  }
}
