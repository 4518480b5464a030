import type { Answer, RequestInput, RequestName } from '../core/protocol/requests.js';
import type { ConnectionRequestOptions } from './connection/pending-requests.js';
import type { EventRouter } from './output/event-router.js';

/** What sessions and commands need of their client. */
export interface ClientLink {
  readonly router: EventRouter;
  /** Sends a request; gives its answer. */
  request<N extends RequestName>(
    name: N,
    payload: RequestInput<N>,
    options?: ConnectionRequestOptions,
  ): Promise<Answer<N>>;
  /** Takes note of a command that the daemon has answered, by which it can be recognized later. */
  noteAnswered(commandId: string): void;
}
