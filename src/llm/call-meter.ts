import { AdapterError, type ErrorCode } from '../core/errors.js';
import { type Candidate, nameOf } from '../core/llm/resolution.js';
import type { Metrics } from '../core/metrics/metrics.js';
import type { LlmReply } from './call.js';

/**
 * Counts the calls of each provider. Provider names are from the configuration, so the number of metrics is bounded.
 */
export class CallMeter {
  readonly #metrics: Pick<Metrics, 'llmAnswered' | 'llmUsed'>;
  readonly #running = new Map<string, { readonly candidate: Candidate; calls: number }>();

  constructor(metrics: Pick<Metrics, 'llmAnswered' | 'llmUsed'>) {
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
      if (reply.usage) this.#metrics.llmUsed(candidate, reply.usage);
      return reply;
    } catch (error) {
      if (error instanceof AdapterError) outcome = error.code;
      throw error;
    } finally {
      running.calls -= 1;
      this.#metrics.llmAnswered(candidate, outcome, performance.now() - startedAt);
    }
  }

  #runningOf(candidate: Candidate): { calls: number } {
    const key = `${candidate.provider} ${nameOf(candidate)}`;
    let running = this.#running.get(key);
    if (!running) this.#running.set(key, (running = { candidate, calls: 0 }));
    return running;
  }
}
