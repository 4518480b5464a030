import type { Principal } from '../../core/access/principal.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import type { LlmCallInfo } from '../../core/protocol/llm-call.js';

/** The LLM calls under way and those that have ended last, as seen by transports and other services. */
export interface LlmCallsPort {
  /** A number that rises with each change. */
  readonly revision: number;
  /** Lists the calls that a principal may see, the newest first. */
  list(request: Request<'list_llm_calls'>, principal: Principal): Answer<'list_llm_calls'>;
  /** The calls that a principal may see and that have changed after a revision, the newest first. 0 gives all. */
  changedSince(revision: number, principal: Principal): readonly LlmCallInfo[];
}
