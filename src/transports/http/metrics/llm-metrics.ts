import { Counter, Histogram, type Registry } from 'prom-client';

import type { ErrorCode } from '../../../core/errors.js';
import type { Candidate } from '../../../core/llm/resolution.js';
import type { LlmUsage } from '../../../core/llm/usage.js';

/** In seconds: from an immediate refusal to the longest default duration of a call. */
const BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800];

/** Labels of a provider: names from the configuration. */
export const LLM_LABELS = ['provider', 'shell_provider'] as const;

type LlmLabel = (typeof LLM_LABELS)[number];

/** The labels of a provider. A service has no shell provider; Prometheus treats an empty label as absent. */
export const llmLabels = ({ provider, shellProvider }: Candidate): Record<LlmLabel, string> => ({
  provider,
  shell_provider: shellProvider ?? '',
});

/** Metrics of LLM calls: of `llm_call` and `llm_stream`, of chat completions, and of reviews. */
export class LlmMetrics {
  readonly #answered: Counter<LlmLabel | 'outcome'>;
  readonly #times: Histogram<LlmLabel>;
  readonly #tokens: Counter<LlmLabel | 'kind'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#answered = new Counter({
      name: 'shell_adapter_llm_calls_total',
      help: 'Ended LLM calls, by `ok` or error code. With fallbacks, each provider counts.',
      labelNames: [...LLM_LABELS, 'outcome'],
      registers,
    });
    this.#times = new Histogram({
      name: 'shell_adapter_llm_call_duration_seconds',
      help: 'Time from a call to its answer, including the time in the queue of a tool.',
      labelNames: LLM_LABELS,
      buckets: BUCKETS,
      registers,
    });
    this.#tokens = new Counter({
      name: 'shell_adapter_llm_tokens_total',
      help: 'Tokens, as far as providers report them.',
      labelNames: [...LLM_LABELS, 'kind'],
      registers,
    });
  }

  /** Counts the end of a call; the duration is in milliseconds. */
  answered(provider: Candidate, outcome: 'ok' | ErrorCode, durationMs: number): void {
    const labels = llmLabels(provider);
    this.#answered.inc({ ...labels, outcome });
    this.#times.observe(labels, durationMs / 1000);
  }

  /** Counts the tokens of an answer, as reported by the provider. */
  used(provider: Candidate, { prompt_tokens: prompt = 0, completion_tokens: completion = 0 }: LlmUsage): void {
    const labels = llmLabels(provider);
    this.#tokens.inc({ ...labels, kind: 'prompt' }, amountOf(prompt));
    this.#tokens.inc({ ...labels, kind: 'completion' }, amountOf(completion));
  }
}

/**
 * Sanitises a reported count: tools report arbitrary values, and counters accept only finite numbers that are not
 * negative.
 */
const amountOf = (tokens: number): number => (Number.isFinite(tokens) && tokens > 0 ? tokens : 0);
