import { getOverSocket, unixEndpoint } from '../../client/connection/unix-socket.js';
import { hasCode } from '../../client/errors.js';
import type { AdapterClient, Answer, ClientError } from '../../client/index.js';
import { settledWithin } from '../../core/time.js';
import { commandLineFor, type Context } from '../console/context.js';
import { type DaemonAddress, type DaemonOptions, findDaemon } from './daemon-address.js';
import { CommandLineError } from '../console/failure.js';

/** Time-out of connecting, in milliseconds. A daemon on this machine needs some milliseconds. */
const CONNECT_TIMEOUT_MS = 3000;
/** How long to try to restore a lost connection, in milliseconds. */
const RECONNECT_TIMEOUT_MS = 30_000;

/**
 * Connects to the daemon while `use` runs. Reports on standard error when the connection is lost or restored, and when
 * the daemon was restarted.
 * @throws CommandLineError, ConfigurationError, ClientError
 */
export async function withDaemon<T>(
  options: DaemonOptions,
  context: Context,
  use: (client: AdapterClient, address: DaemonAddress) => Promise<T>,
): Promise<T> {
  const address = await findDaemon(options, context);
  const { url, source, token } = address;
  const { connect, ClientError: AnyClientError } = await import('../../client/index.js');
  let client: AdapterClient;
  try {
    client = await connect(url, {
      token,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      reconnectTimeoutMs: RECONNECT_TIMEOUT_MS,
    });
  } catch (error) {
    if (!(error instanceof AnyClientError)) throw error;
    const hint = isUnauthorized(error) ? tokenHint(context, options) : `The address is from ${source}.`;
    throw new CommandLineError(error.message, { hint, cause: error });
  }
  reportConnection(context, client);
  try {
    return await use(client, address);
  } finally {
    // The daemon is told at once. That it has closed the connection need not be waited for: the process ends then.
    void client.close();
  }
}

function reportConnection(context: Context, client: AdapterClient): void {
  const say = (text: string) => {
    // In raw mode a line feed alone does not return the cursor to the first column.
    void context.stderr.write(`shell-adapter: ${text}${context.stdin.isRaw ? '\r\n' : '\n'}`);
  };
  let isLost = false;
  client.onConnection((state) => {
    if (state === 'lost' && !isLost) {
      isLost = true;
      say(`the connection to the daemon was lost; trying again for ${RECONNECT_TIMEOUT_MS / 1000} s`);
    } else if (state === 'restarted') {
      say('the daemon was restarted: its earlier sessions and commands have ended');
    } else if (state === 'connected') {
      isLost = false;
      say('connected again');
    }
  });
}

/** Rejects when the connection is closed permanently. */
export function untilClosed(client: AdapterClient): Promise<never> {
  const closed = new Promise<never>((_resolve, reject) => {
    client.onConnection((state, error) => {
      if (state === 'closed') reject(error ?? new Error('the connection has ended'));
    });
  });
  closed.catch(() => undefined);
  return closed;
}

const tokenHint = (context: Context, { config }: DaemonOptions): string => {
  const create = commandLineFor(context, { config })('token create --role agent --name NAME');
  return `Give a token by SHELL_ADAPTER_TOKEN or --token. \`${create}\`, run as the user of the daemon, makes one.`;
};

/** Whether the daemon refuses this program for lack of a valid token. */
const isUnauthorized = ({ details }: ClientError): boolean => details?.['code'] === 'UNAUTHORIZED';

export type FoundDaemon =
  /** A daemon that answers. */
  | { readonly state: 'running'; readonly url: string; readonly status: Answer<'daemon_status'> }
  /** A daemon that does not accept this client, or whose status this client may not read. */
  | { readonly state: 'unknown'; readonly why: string; readonly hint: string | undefined }
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
  const answer = ask(url, abort.signal);
  try {
    // A separate timer: `AbortSignal.timeout` does not keep the process alive, and on some connections fetch never
    // settles. The process would then end silently (exit code 13).
    return (await settledWithin(answer, PROBE_MS)) && (await answer).includes('"shell-adapter"');
  } catch {
    // The port does not listen, or does not speak HTTP.
    return false;
  } finally {
    abort.abort();
  }
}

async function ask(url: string, signal: AbortSignal): Promise<string> {
  const socketPath = unixEndpoint(url)?.socketPath;
  if (socketPath !== undefined) return (await getOverSocket(socketPath, '/healthz', PROBE_MS)).text;
  // Clients accept WebSocket addresses too: the same port answers HTTP.
  const page = new URL('/healthz', url.replace(/^ws/, 'http'));
  return (await fetch(page, { signal, redirect: 'manual' })).text();
}
