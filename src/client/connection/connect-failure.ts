import type { ErrorBody } from '../../core/errors.js';
import { ClientError } from '../contract/errors.js';
import { startTimer, type Timer } from '../runtime/timer.js';
import { type Endpoint, getOverSocket } from './unix-socket.js';

/** Time-out of the request that asks the daemon why it refused the client, in milliseconds. */
const PROBE_TIMEOUT_MS = 2000;

/**
 * Finds the reason of a failed connection, and a remedy. A WebSocket does not report the reason; a plain HTTP request
 * does.
 * @param isRefused whether the daemon itself has rejected the client
 */
export async function explainFailure(endpoint: Endpoint, error: Error, isRefused: boolean): Promise<ClientError> {
  const { url } = endpoint;
  if (isRefused) return refusalOf(url, error);
  if (error.message === 'timeout') {
    return failed(`what listens at ${url} does not answer: see whether the daemon is stopped or overloaded`, error);
  }
  let answer: { readonly status: number; readonly text: string };
  try {
    answer = await ask(endpoint);
  } catch (cause) {
    // The port does not listen, the name is unknown, or the host is unreachable.
    return failed(
      `no daemon answers at ${url}${whyOf(cause)}: start one with "shell-adapter serve", or give the address of one that runs`,
      cause,
    );
  }
  const isOk = answer.status < 400;
  const reason = reasonOf(answer.text);
  if (!isOk && reason !== undefined) return refused(url, reason, error);
  if (isOk) return failed(`the daemon at ${url} answers, but no WebSocket to it comes about: ${error.message}`, error);
  return failed(
    `what answers at ${url} (HTTP ${answer.status}) is no shell-adapter daemon: check host and port`,
    error,
  );
}

async function ask({ origin, socketPath }: Endpoint): Promise<{ readonly status: number; readonly text: string }> {
  const path = '/socket.io/?EIO=4&transport=polling';
  if (socketPath !== undefined) return getOverSocket(socketPath, path, PROBE_TIMEOUT_MS);
  const abort = new AbortController();
  let timer: Timer | undefined;
  // A separate timer: that of `AbortSignal.timeout` does not keep Node.js alive, and fetch may never settle.
  const late = new Promise<never>((_resolve, reject) => {
    timer = startTimer(PROBE_TIMEOUT_MS, () => {
      abort.abort();
      reject(new Error('timeout'));
    });
  });
  const get = async () => {
    const response = await fetch(new URL(path, origin), { signal: abort.signal });
    return { status: response.status, text: await response.text() };
  };
  try {
    return await Promise.race([get(), late]);
  } finally {
    clearTimeout(timer);
  }
}

const failed = (message: string, cause: unknown): ClientError =>
  new ClientError('CONNECTION_FAILED', message, { cause });

const refused = (url: string, reason: string, cause: unknown): ClientError =>
  new ClientError('REFUSED', `the daemon at ${url} refuses this client: ${reason}`, { cause });

/** Error for a client that the daemon does not accept; `details.code` is the reason in machine-readable form. */
export function refusalOf(url: string, error: Error): ClientError {
  const { code } = (error as { readonly data?: ErrorBody }).data ?? {};
  const message = `the daemon at ${url} refuses this client: ${error.message}`;
  return new ClientError('REFUSED', message, { ...(code !== undefined && { details: { code } }), cause: error });
}

/** The system's error code, if available: browsers do not expose it. */
function whyOf(error: unknown): string {
  const { code } = ((error as Error).cause ?? error) as { readonly code?: unknown };
  return typeof code === 'string' ? ` (${code})` : '';
}

/** Reason in a refusal: Engine.IO's own ones have the message at the top, the daemon's in `error`. */
function reasonOf(answer: string): string | undefined {
  try {
    const { message, error } = JSON.parse(answer) as {
      readonly message?: unknown;
      readonly error?: Partial<ErrorBody>;
    };
    const reason = error?.message ?? message;
    return typeof reason === 'string' ? reason : undefined;
  } catch {
    // Not JSON: the answer is not from the daemon.
    return undefined;
  }
}

/** The error of requests whose connection broke. */
export function lost(url: string, reason?: string): ClientError {
  const why = reason === undefined ? '' : ` (${reason})`;
  const message = `the connection to ${url} broke${why}: what was asked may or may not have been done`;
  return new ClientError('CONNECTION_LOST', message);
}
