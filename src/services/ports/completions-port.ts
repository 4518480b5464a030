import type { LlmUsage } from '../../core/llm/usage.js';
import type { CompletionRequest } from '../../core/openai/completion-request.js';

/** What a completion is made with. */
export interface CompletionListener {
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Called with each piece of the answer, secrets in it masked; undefined when it is wanted as a whole. */
  readonly onChunk: ((text: string) => void) | undefined;
  /**
   * Tells repetitions of a request from other requests: the same for the same request of the same principal. Undefined for a
   * request that is to be run even if it has just failed.
   */
  readonly repeatKey: string | undefined;
}

/** A completion. */
export interface Completion {
  readonly content: string;
  /** Undefined when the tool tells none. */
  readonly usage: LlmUsage | undefined;
  /** Undefined unless it was asked for. */
  readonly worktree: WorktreeReport | undefined;
}

/** What a run has changed in its worktree, in words of the wire. */
export interface WorktreeReport {
  readonly changes: readonly { readonly path: string; readonly status: string }[];
  readonly patch: string;
  /** Why something of it may be missing. */
  readonly warning?: string;
}

/** A model as it is listed. */
export interface ListedModel {
  readonly id: string;
  /** The tool that it runs. */
  readonly driver: string;
}

/** The models of the endpoint, as transports know them. */
export interface CompletionsPort {
  /**
   * @throws AdapterError; `details.is_repeated` is true for the remembered failure of an earlier run
   */
  complete(request: CompletionRequest, listener: CompletionListener): Promise<Completion>;
  models(): readonly ListedModel[];
}
