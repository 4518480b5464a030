import type { Principal } from '../core/principal.js';
import type { Candidate } from '../core/llm/resolution.js';
import type { LlmUsage } from '../core/llm/answer.js';
import type { CompletionRequest } from '../core/openai/completion-request.js';
import type { LlmCallInfo } from '../core/protocol/llm-call.js';
import type { Answer, Request } from '../core/protocol/requests.js';
import type { Caller, EventSink } from './registry/caller.js';

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

/** The LLM calls under way and those that have ended last, as seen by transports and other services. */
export interface LlmCallsPort {
  /** A number that rises with each change. */
  readonly revision: number;
  /** Lists the calls that a principal may see, the newest first. */
  list(request: Request<'list_llm_calls'>, principal: Principal): Answer<'list_llm_calls'>;
  /** The calls that a principal may see and that have changed after a revision, the newest first. 0 gives all. */
  changedSince(revision: number, principal: Principal): readonly LlmCallInfo[];
}

/** Options for callers within the daemon, beyond a request. */
export interface LlmCallOptions {
  /** True when a command-line tool may only read, whatever the configuration grants. */
  readonly isReadOnly: boolean;
}

/** LLM calls, as seen by transports and other services. */
export interface LlmPort extends AsyncDisposable {
  /**
   * Calls an LLM.
   * @param options by default a tool may do what the configuration grants
   */
  call(request: Request<'llm_call'>, caller: Caller, options?: LlmCallOptions): Promise<Answer<'llm_call'>>;
  /** Calls an LLM; the answer is also streamed to the caller's client. */
  stream(request: Request<'llm_stream'>, caller: Caller): Promise<Answer<'llm_stream'>>;
  /** Cancels a running or queued call. */
  cancel(request: Request<'cancel_llm'>, principal: Principal): Answer<'cancel_llm'>;
  /** Lists the available providers. */
  list(): Answer<'list_llm_providers'>;
  /** The calls under way and the last ones, those of the HTTP endpoint and reviews included. */
  readonly calls: LlmCallsPort;
  /** Running and queued calls, of every provider that was ever called, completions included. */
  running(): readonly { readonly candidate: Candidate; readonly calls: number }[];
  /** Handles the disconnect of a client: cancels its calls. */
  detach(sink: EventSink): void;
}
