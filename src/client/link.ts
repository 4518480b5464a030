import type { Answer, RequestInput, RequestName } from '../core/protocol/requests.js';
import type { ConnectionRequestOptions } from './connection/pending-requests.js';
import type { EventRouter } from './event-router.js';

/** Interface of the client for sessions and commands. */
export interface ClientLink {
  readonly router: EventRouter;
  /** Sends a request; returns its answer. */
  request<N extends RequestName>(
    name: N,
    payload: RequestInput<N>,
    options?: ConnectionRequestOptions,
  ): Promise<Answer<N>>;
  /** Records a command that the daemon has answered. After a reconnection it shows whether the daemon is the same. */
  noteAnswered(commandId: string): void;
}
