import { getOverSocket, unixEndpoint } from '../../client/connection/unix-socket.js';
import { hasCode } from '../../client/errors.js';
import type { Answer } from '../../client/index.js';
import type { Context } from '../console/context.js';
import { CommandLineError } from '../console/failure.js';
import type { DaemonOptions } from './daemon-address.js';
import { withDaemon } from './with-daemon.js';

/** Result of querying the address of the daemon. */
export type FoundDaemon =
  /** A daemon that answers. */
  | { readonly state: 'running'; readonly url: string; readonly status: Answer<'daemon_status'> }
  /** A daemon that does not accept this client, or whose status this client may not read. */
  | { readonly state: 'unknown'; readonly why: string; readonly hint: string | undefined }
  /** No daemon. */
  | { readonly state: 'stopped'; readonly why: string };

/**
 * Queries the status of the daemon that the options specify.
 * @throws CommandLineError, ConfigurationError when there is no address to query
 */
export async function findStatus(options: DaemonOptions, context: Context): Promise<FoundDaemon> {
  try {
    return await withDaemon(options, context, async (client) => {
      return { state: 'running', url: client.url, status: await client.request('daemon_status', {}) };
    });
  } catch (error) {
    const cause = error instanceof CommandLineError ? error.cause : error;
    if (hasCode(cause, 'CONNECTION_FAILED')) return { state: 'stopped', why: cause.message };
    if (hasCode(cause, 'REFUSED', 'FORBIDDEN', 'RATE_LIMITED', 'UNKNOWN_REQUEST')) {
      return { state: 'unknown', why: cause.message, hint: (error as Partial<CommandLineError>).hint };
    }
    throw error;
  }
}

/** How long a daemon may take to answer a probe, in milliseconds. */
const PROBE_MS = 1000;

/**
 * Whether a shell-adapter daemon answers at an address; `unix:/PATH` is allowed. Always settles within about a second.
 */
export async function probeDaemon(url: string): Promise<boolean> {
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  // A separate timer: `AbortSignal.timeout` does not keep the process alive, and on some connections fetch never
  // settles. The process would then end silently (exit code 13).
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => {
      abort.abort();
      resolve('');
    }, PROBE_MS);
  });
  try {
    const text = await Promise.race([ask(url, abort.signal), late]);
    return text.includes('"shell-adapter"');
  } catch {
    // The port does not listen, or does not speak HTTP.
    return false;
  } finally {
    clearTimeout(timer);
  }
}

async function ask(url: string, signal: AbortSignal): Promise<string> {
  const socketPath = unixEndpoint(url)?.socketPath;
  if (socketPath !== undefined) return (await getOverSocket(socketPath, '/healthz', PROBE_MS)).text;
  // Clients accept WebSocket addresses too: the same port answers HTTP.
  const page = new URL('/healthz', url.replace(/^ws/, 'http'));
  return (await fetch(page, { signal, redirect: 'manual' })).text();
}
