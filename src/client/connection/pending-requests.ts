import type { RequestName } from '../../core/protocol/requests.js';
import { ClientError } from '../contract/errors.js';
import type { RequestOptions } from '../contract/options.js';
import { startTimer } from '../runtime/timer.js';

/** Requests that can be made again when nobody knows whether they arrived: they change nothing, or the same again. */
const REPEATABLE: ReadonlySet<RequestName> = new Set([
  'shell_metadata',
  'daemon_status',
  'wait_command',
  'read_output',
  'list_sessions',
  'list_confirmations',
  'get_session',
  'attach_session',
  'resize_terminal',
  'close_session',
  'list_checkpoints',
  'diff_workspace',
  'list_llm_providers',
]);

/** How a request is made, with what only the client itself asks for. */
export interface ConnectionRequestOptions extends RequestOptions {
  /** The request belongs to the connection that stands now: it goes out at once, or is rejected. */
  readonly isBound?: boolean;
  /** Aborting rejects the request only if it cannot have arrived. */
  readonly abortsUnsentOnly?: boolean;
}

/** What a request leads to. */
interface Settle {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A request without an answer. */
export interface PendingRequest extends Settle {
  readonly name: RequestName;
  readonly payload: Readonly<Record<string, unknown>>;
  /** Whether it belongs to the connection that stands now, and is never made again over another. */
  readonly isBound: boolean;
  /** Whether it was sent over the connection that stands now. */
  isSent: boolean;
  /** Whether it was sent over an earlier connection, so that the daemon may have it. */
  mayHaveArrived: boolean;
}

/** Whether a request may be sent a second time: a command only under an id of its own, by which the daemon knows it. */
export function isRepeatable({
  name,
  payload,
  isBound,
}: Pick<PendingRequest, 'name' | 'payload' | 'isBound'>): boolean {
  if (isBound) return false;
  if (name === 'execute_command') return payload['command_id'] !== undefined;
  // A chunk of an input that says where it belongs counts once.
  if (name === 'send_input') return payload['offset'] !== undefined;
  return REPEATABLE.has(name);
}

/** The requests of a client that have no answer yet, in the order they were made. */
export class PendingRequests {
  readonly #requests = new Set<PendingRequest>();

  /** Adds a request, with its timer and its abort signal: once it is settled, both are gone and it is no longer here. */
  add(
    name: RequestName,
    payload: Readonly<Record<string, unknown>>,
    options: ConnectionRequestOptions & { readonly timeoutMs: number },
    settle: Settle,
  ): PendingRequest {
    const { signal, isBound = false, abortsUnsentOnly = false, timeoutMs } = options;
    const leave = () => {
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
        if (leave()) settle.resolve(answer);
      },
      reject: (error) => {
        if (leave()) settle.reject(error);
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

  /** Those that have yet to be sent. */
  unsent(): PendingRequest[] {
    return [...this.#requests].filter(({ isSent }) => !isSent);
  }

  /**
   * Takes note that the connection has broken: what may be repeated waits for the next one, the rest of what was sent is
   * rejected.
   * @param isRepeatWanted whether anything is to be repeated at all
   */
  connectionLost(error: ClientError, isRepeatWanted: boolean): void {
    for (const request of [...this.#requests].filter(({ isSent, isBound }) => isSent || isBound)) {
      request.isSent = false;
      request.mayHaveArrived = true;
      if (!isRepeatWanted || !isRepeatable(request)) request.reject(error);
    }
  }

  rejectAll(error: ClientError): void {
    for (const request of [...this.#requests]) request.reject(error);
  }
}

const lateError = (name: RequestName, timeoutMs: number): ClientError =>
  new ClientError('REQUEST_TIMEOUT', `the daemon has not answered ${name} within ${timeoutMs} ms`, {
    details: { request: name },
  });
