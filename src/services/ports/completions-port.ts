import type { Principal } from '../../core/access/principal.js';
import type { LlmUsage } from '../../core/llm/usage.js';
import type { CompletionRequest } from '../../core/openai/completion-request.js';

/** How a completion is delivered. */
export interface CompletionListener {
  /** The principal that asked. */
  readonly principal: Principal;
  /** Aborted when no client waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Called with each piece of the answer, with secrets masked; undefined when only the whole answer is needed. */
  readonly onChunk: ((text: string) => void) | undefined;
  /**
   * Identifies repetitions of a request: equal for the same request of the same principal. Undefined for a request that
   * has to run even if it has just failed.
   */
  readonly repeatKey: string | undefined;
}

/** The result of a completion. */
export interface Completion {
  readonly content: string;
  /** Undefined when the tool reports none. */
  readonly usage: LlmUsage | undefined;
  /** Undefined unless it was requested. */
  readonly worktree: WorktreeReport | undefined;
}

/** The changes of a run in its worktree, in wire format. */
export interface WorktreeReport {
  readonly changes: readonly { readonly path: string; readonly status: string }[];
  readonly patch: string;
  /** Why some changes may be missing. */
  readonly warning?: string;
}

/** A model as it is listed. */
export interface ListedModel {
  readonly id: string;
  /** The tool that the model runs. */
  readonly driver: string;
}

/** The models of the endpoint, as seen by transports. */
export interface CompletionsPort {
  /**
   * Runs a completion.
   * @throws AdapterError; `details.is_repeated` is true for the remembered failure of an earlier run
   */
  complete(request: CompletionRequest, listener: CompletionListener): Promise<Completion>;
  models(): readonly ListedModel[];
}
