import type { Principal } from '../../core/access/principal.js';
import type { Candidate } from '../../core/llm/resolution.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import type { LlmCallsPort } from './llm-calls-port.js';
import type { Caller, EventSink } from '../registry/caller.js';

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
