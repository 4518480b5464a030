import type { Principal } from '../../core/access/principal.js';
import type { Candidate } from '../../core/llm/resolution.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import type { Caller, EventSink } from '../registry/caller.js';

/** What a caller within the daemon can ask for beyond a request. */
export interface LlmCallOptions {
  /** Whether a command-line tool may only read, whatever the configuration grants it. */
  readonly isReadOnly: boolean;
}

/** Calls of LLMs, as transports and other services know them. */
export interface LlmPort extends AsyncDisposable {
  /** Asks an LLM. @param options by default a tool may do what the configuration grants it */
  call(request: Request<'llm_call'>, caller: Caller, options?: LlmCallOptions): Promise<Answer<'llm_call'>>;
  /** Asks an LLM; the answer also goes to the caller's client piece by piece. */
  stream(request: Request<'llm_stream'>, caller: Caller): Promise<Answer<'llm_stream'>>;
  /** Cancels a call that is under way. */
  cancel(request: Request<'cancel_llm'>, principal: Principal): Answer<'cancel_llm'>;
  /** Who can be asked. */
  list(): Answer<'list_llm_providers'>;
  /** Calls that run or wait for their turn, of every provider that was ever asked, completions included. */
  running(): readonly { readonly candidate: Candidate; readonly calls: number }[];
  /** A client has gone: nobody waits for the answers to its calls. */
  detach(sink: EventSink): void;
}
