import type { RequestName } from '../../core/protocol/requests.js';
import type { TraceCarrier } from '../../core/traces/traces.js';
import type { ToolError } from '../../core/tools/answer.js';

/** The result of a request: the daemon's answer, or an error. */
export type Reply = object | { readonly error: ToolError };

/** Executes the requests of tools: the daemon itself, or a client of one. */
export interface ToolBackend {
  /** Makes a request; returns its answer or its error. Never rejects. */
  request(name: RequestName, payload: unknown): Promise<Reply>;
  /** Returns the same backend for requests that belong to a trace. Undefined where traces are not passed on. */
  within?(trace: TraceCarrier): ToolBackend;
}
