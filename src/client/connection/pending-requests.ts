import { REQUEST_FACTS } from '../../core/protocol/request-facts.js';
import type { ErrorBody } from '../../core/errors.js';
import type { RequestName } from '../../core/protocol/requests.js';
import { ClientError } from '../errors.js';
import type { RequestOptions } from '../options.js';
import { startTimer } from '../runtime.js';

/** Options of a request, with those that only the client itself uses. */
export interface ConnectionRequestOptions extends RequestOptions {
  /** Binds the request to the current connection: it is sent at once, or rejected. */
  readonly isBound?: boolean;
  /** Aborting rejects the request only if the daemon cannot have received it. */
  readonly abortsUnsentOnly?: boolean;
}

/** Callbacks that settle a request. */
interface Settle {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A request that is not answered yet. */
export interface PendingRequest extends Settle {
  readonly name: RequestName;
  readonly payload: Readonly<Record<string, unknown>>;
  /** Whether it is bound to the current connection, and never repeated over another. */
  readonly isBound: boolean;
  /** Whether it was sent over the current connection. */
  isSent: boolean;
  /** Whether it was sent over an earlier connection, so that the daemon may have received it. */
  mayHaveArrived: boolean;
}

/** What is known of a request; undefined for one that only a newer daemon has. */
export const factsOf = (name: string): (typeof REQUEST_FACTS)[RequestName] | undefined =>
  Object.hasOwn(REQUEST_FACTS, name) ? REQUEST_FACTS[name as RequestName] : undefined;

/**
 * Whether a request may be sent a second time. A command needs its own id, by which the daemon detects the repetition.
 */
export function isRepeatable({
  name,
  payload,
  isBound,
}: Pick<PendingRequest, 'name' | 'payload' | 'isBound'>): boolean {
  if (isBound) return false;
  const repeat = factsOf(name)?.repeat;
  if (repeat === 'by_id') return payload['command_id'] !== undefined;
  // A chunk of input with an offset is counted once.
  if (name === 'send_input') return payload['offset'] !== undefined;
  return repeat === 'safe';
}

/** The unanswered requests of a client, in the order of their creation. */
export class PendingRequests {
  readonly #requests = new Set<PendingRequest>();

  /** Adds a request with its timer and its abort signal. Settling it removes all three. */
  add(
    name: RequestName,
    payload: Readonly<Record<string, unknown>>,
    options: ConnectionRequestOptions & { readonly timeoutMs: number },
    settle: Settle,
  ): PendingRequest {
    const { signal, isBound = false, abortsUnsentOnly = false, timeoutMs } = options;
    const remove = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      return this.#requests.delete(request);
    };
    const request: PendingRequest = {
      name,
      payload,
      isBound,
      isSent: false,
      mayHaveArrived: false,
      resolve: (answer) => {
        if (remove()) settle.resolve(answer);
      },
      reject: (error) => {
        if (remove()) settle.reject(error);
      },
    };
    const onAbort = () => {
      if (!abortsUnsentOnly || !(request.isSent || request.mayHaveArrived)) request.reject(signal?.reason);
    };
    const timer = startTimer(timeoutMs, () => {
      request.reject(lateError(name, timeoutMs));
    });
    signal?.addEventListener('abort', onAbort);
    this.#requests.add(request);
    return request;
  }

  /**
   * Whether a request is sent again after the error of a gateway: the node was lost before its answer, has changed nothing
   * for it, and the request would be sent again after a lost connection.
   */
  isRepeatedAfter(request: PendingRequest, { code, details }: ErrorBody): boolean {
    const isSafe = code === 'NODE_LOST' && details?.['retry_safe'] === true;
    return isSafe && isRepeatable(request) && this.#requests.has(request);
  }

  /** Requests that have not been sent yet. */
  unsent(): PendingRequest[] {
    return [...this.#requests].filter(({ isSent }) => !isSent);
  }

  /**
   * Handles a lost connection: repeatable requests wait for the next connection, other requests that were sent are
   * rejected.
   * @param isRepeatWanted whether requests are repeated at all
   */
  connectionLost(error: ClientError, isRepeatWanted: boolean): void {
    for (const request of [...this.#requests].filter(({ isSent, isBound }) => isSent || isBound)) {
      request.isSent = false;
      request.mayHaveArrived = true;
      if (!isRepeatWanted || !isRepeatable(request)) request.reject(error);
    }
  }

  /** Rejects every pending request with one error. */
  rejectAll(error: ClientError): void {
    for (const request of [...this.#requests]) request.reject(error);
  }
}

const lateError = (name: RequestName, timeoutMs: number): ClientError =>
  new ClientError('REQUEST_TIMEOUT', `the daemon has not answered ${name} within ${timeoutMs} ms`, {
    details: { request: name },
  });
