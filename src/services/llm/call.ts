import { AdapterError, type ErrorCode } from '../../core/errors.js';
import type { AccessMode } from '../../core/llm/settings.js';
import type { AnswerFormat, LlmUsage } from '../../core/llm/answer.js';
import type { LlmMessage } from '../../core/llm/messages.js';
import { type Candidate, nameOf } from '../../core/llm/resolution.js';
import { type Metrics, providerLabels } from '../../core/metrics.js';
import type { ResourceUse } from '../../engine/command/resource-use.js';
import type { Execution } from '../executions.js';

/** A call to a provider. */
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
  /** Timeout of the answer, in milliseconds; undefined for the provider's own. */
  readonly timeoutMs: number | undefined;
  /** Called with each piece of the answer as it arrives. */
  readonly onChunk: ((text: string) => void) | undefined;
  readonly signal: AbortSignal;
  /** What runs a command-line tool as another user; undefined for the daemon's own. */
  readonly execution?: Execution | undefined;
  /** Told which provider is asked, and when it runs. */
  readonly progress?: CallProgress | undefined;
}

/** Receives the progress of a call. */
export interface CallProgress {
  /** A provider is asked now: a tool may still have to wait for others. */
  asking(candidate: Candidate): void;
  /** The provider has begun. */
  running(): void;
}

/** The answer of a provider. */
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

/**
 * Counts the calls of each provider. Provider names are from the configuration, so the number of metrics is bounded.
 */
export class CallMeter {
  readonly #metrics: Metrics;
  readonly #running = new Map<string, { readonly candidate: Candidate; calls: number }>();

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  /** Running and queued calls, of every provider that was ever called. */
  get running(): readonly { readonly candidate: Candidate; readonly calls: number }[] {
    return [...this.#running.values()];
  }

  /** Counts a call, its duration, and its outcome. */
  async measure(candidate: Candidate, ask: () => Promise<LlmReply>): Promise<LlmReply> {
    const startedAt = performance.now();
    const running = this.#runningOf(candidate);
    running.calls += 1;
    let outcome: 'ok' | ErrorCode = 'INTERNAL';
    try {
      const reply = await ask();
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
