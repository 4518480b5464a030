import { once } from 'node:events';
import { Writable } from 'node:stream';

import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';

import type { AdapterClient } from '../client/index.js';
import { REQUEST_FACTS } from '../core/protocol/request-facts.js';
import type { RequestInput, RequestName } from '../core/protocol/requests.js';
import type { ToolError } from '../core/tools/answer.js';
import type { ToolSet } from '../core/tools/tool-sets.js';
import { settledWithin } from '../core/time.js';
import { Deferred } from '../engine/system/promises.js';
import { createCodec, createMcpServer } from '../transports/mcp/mcp-server.js';
import { StartDirectory } from '../transports/mcp/start-directory.js';
import type { Ask, Reply } from '../transports/mcp/tool-call.js';
import { type DaemonOptions, findDaemon, givenUrl } from './connect/daemon-address.js';
import { type Context, untilStopped } from './console/context.js';
import { UsageError } from './console/failure.js';

/**
 * Connects to the daemon.
 * @param onAddress called with the address of the daemon before connecting
 */
type ConnectDaemon = (onAddress: (url: string) => void) => Promise<AdapterClient>;

/**
 * How long a call waits for a lost connection, in milliseconds: an agent gets an error within two seconds, and short
 * interruptions are not visible.
 */
const PATIENCE_MS = 1500;

/** Whether a request is awaited at shutdown: commands that were cancelled, and the signals that cancel them. */
const isAwaited = (name: RequestName): boolean => REQUEST_FACTS[name].repeat === 'by_id' || name === 'signal_command';

/**
 * How long commands may take to end with this process, in milliseconds: SIGINT, SIGTERM and SIGKILL are sent a second
 * apart.
 */
const ENDING_MS = 2500;

/** Stands for an answer that is missing because the connection is lost. */
const AWAY = Symbol('away');

/**
 * Connection to a daemon that may start and stop at any time. A request without a daemon returns an error within two
 * seconds, and the next one tries again. A request that returned an error is never sent later.
 */
class McpDaemon implements AsyncDisposable {
  readonly #connect: ConnectDaemon;
  readonly #patienceMs: number;
  #url = 'its address';
  /**
   * Resolves when the connection attempt starts: the time to load this program does not count as the daemon's delay.
   */
  readonly #isReady = new Deferred<void>();
  #client: Promise<AdapterClient> | undefined;
  #connected: AdapterClient | undefined;
  /** Error of the last attempt. */
  #failure: ToolError | undefined;
  #isDisposed = false;
  /** Requests that are awaited at shutdown: commands, and the signals that end them. */
  readonly #ending = new Set<Promise<Reply>>();

  /** @param patienceMs how long a call waits for the first connection, in milliseconds */
  constructor(connect: ConnectDaemon, patienceMs: number = PATIENCE_MS) {
    this.#connect = connect;
    this.#patienceMs = patienceMs;
  }

  /** Starts connecting; returns the error, or undefined on success. */
  async open(): Promise<ToolError | undefined> {
    try {
      await this.#open();
      return undefined;
    } catch {
      // The error is in `#failure`.
      return this.#failure;
    }
  }

  readonly ask: Ask = async (name, payload) => {
    // An existing connection is used without waiting: at shutdown, signals must be sent at once.
    const client = this.#connected?.isConnected === true ? this.#connected : await this.#wait();
    if ('error' in client) return client;
    const asked = this.#request(client, name, payload);
    if (!isAwaited(name)) return asked;
    this.#ending.add(asked);
    return asked.finally(() => this.#ending.delete(asked));
  };

  async #wait(): Promise<AdapterClient | { readonly error: ToolError }> {
    const opened = this.#open().catch(() => undefined);
    await Promise.race([opened, this.#isReady.promise]);
    if (!(await settledWithin(opened, this.#patienceMs))) return { error: this.#timeoutError() };
    return (await opened) ?? { error: this.#failure ?? this.#timeoutError() };
  }

  async #request(client: AdapterClient, name: RequestName, payload: unknown): Promise<Reply> {
    const wasConnected = client.isConnected;
    const stop = new AbortController();
    const away = watchAbsence(client, PATIENCE_MS, stop.signal);
    try {
      // The tool's schema has validated it.
      const asked = client.request(name, payload as RequestInput<RequestName>, { signal: stop.signal });
      const reply = await Promise.race([asked, away]);
      if (reply !== AWAY) return reply;
      this.#drop(client);
      return { error: absent(client.url, wasConnected) };
    } catch (error) {
      return { error: toolErrorOf(error) };
    } finally {
      // An unanswered request must not be sent after a reconnection: the agent has received an error for it.
      stop.abort();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await settledWithin(Promise.allSettled([...this.#ending]), ENDING_MS);
    await this.#connected?.close();
  }

  /** Makes the next request connect again, which starts a daemon if configured. */
  #drop(client: AdapterClient): void {
    if (this.#connected !== client) return;
    this.#client = undefined;
    this.#connected = undefined;
    void client.close();
  }

  #timeoutError(): ToolError {
    return {
      code: 'CONNECTION_FAILED',
      message: `no daemon answers at ${this.#url} within ${this.#patienceMs} ms`,
    };
  }

  #open(): Promise<AdapterClient> {
    this.#client ??= this.#begin();
    return this.#client;
  }

  async #begin(): Promise<AdapterClient> {
    try {
      const client = await this.#connect((url) => {
        this.#url = url;
        this.#isReady.resolve();
      });
      this.#connected = client;
      this.#failure = undefined;
      client.onConnection((state) => {
        if (state === 'closed' && this.#connected === client) this.#client = undefined;
      });
      if (this.#isDisposed) await client.close();
      return client;
    } catch (error) {
      this.#failure = toolErrorOf(error);
      this.#client = undefined;
      throw error;
    }
  }
}

/** Resolves when a client has been without a connection for `ms` milliseconds. */
function watchAbsence(client: AdapterClient, ms: number, stop: AbortSignal): Promise<typeof AWAY> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const wait = () => {
      timer ??= setTimeout(() => {
        resolve(AWAY);
      }, ms);
    };
    const rest = () => {
      clearTimeout(timer);
      timer = undefined;
    };
    const unwatch = client.onConnection((state) => {
      if (state === 'lost') wait();
      else rest();
    });
    if (!client.isConnected) wait();
    stop.addEventListener('abort', () => {
      rest();
      unwatch();
    });
  });
}

const absent = (url: string, wasConnected: boolean): ToolError =>
  wasConnected
    ? {
        code: 'CONNECTION_LOST',
        message: `the connection to the daemon at ${url} broke: what was asked may or may not have been done`,
      }
    : { code: 'CONNECTION_FAILED', message: `no daemon answers at ${url}` };

/** Converts an error of the client library, or of finding the daemon, for a model. */
function toolErrorOf(error: unknown): ToolError {
  const { code, message, details } = error as { code?: unknown; message: string; details?: ToolError['details'] };
  return {
    code: typeof code === 'string' ? code : 'CONNECTION_FAILED',
    message,
    ...(details && { details }),
  };
}

/** How the tools are served. */
interface ServedTools extends DaemonOptions {
  /** Absolute. */
  readonly cwd?: string;
  readonly tools: ToolSet;
  /** Whether to start a daemon when none answers. */
  readonly start?: boolean;
}

/** Time-out of connecting to the daemon, in milliseconds; one on this machine needs some milliseconds. */
const CONNECT_MS = 1400;

/** How long a call waits for a daemon that is starting, in milliseconds. */
const START_PATIENCE_MS = 30_000;

/** Serves MCP until EOF on standard input or a signal. Requests that need no daemon are answered without one. */
export async function serveMcp(context: Context, options: ServedTools): Promise<void> {
  const { stderr, env } = context;
  if (options.start === true && givenUrl(options, context) !== undefined) {
    throw new UsageError('--start starts the daemon of a configuration file: leave out --url and SHELL_ADAPTER_URL');
  }
  const { token } = options;
  await using daemon = new McpDaemon(
    (onAddress) => connectDaemon(options, context, token, onAddress),
    options.start === true ? START_PATIENCE_MS : undefined,
  );
  const operatorToken = env['SHELL_ADAPTER_OPERATOR_TOKEN'] || undefined;
  // A separate connection, opened when there is something to decide: the daemon treats it as another client.
  await using operator = new McpDaemon((onAddress) => connectDaemon(options, context, operatorToken, onAddress));
  const serving = serve(context, {
    ask: daemon.ask,
    version: context.version,
    role: undefined,
    tools: options.tools,
    start: new StartDirectory(options.cwd, context.cwd),
    operator: operatorToken === undefined ? undefined : { ask: operator.ask, codec: createCodec() },
  });
  void daemon.open().then((error) => {
    if (error)
      return stderr.write(`shell-adapter: ${error.message}\nCalls are answered with an error until one answers.\n`);
    return undefined;
  });
  await serving;
}

async function serve(context: Context, options: Parameters<typeof createMcpServer>[0]): Promise<void> {
  const { stdin, stdout, stderr } = context;
  const output = new Writable({
    write: (chunk: Uint8Array, _encoding, done) => {
      void stdout.write(chunk).then(() => {
        done();
      });
    },
  });
  const handle = serveStdio(() => createMcpServer(options), {
    transport: new StdioServerTransport(stdin, output),
    onerror: ({ message }) => void stderr.write(`shell-adapter: ${message}\n`),
  });
  await untilStopped(context, async (_signal, stopped) => {
    await Promise.race([once(stdin, 'end'), once(stdin, 'close'), stopped]);
  });
  await handle.close();
  stdin.destroy();
}

/** Finds the daemon, starts it if configured, and connects to it for the lifetime of this process. */
async function connectDaemon(
  options: ServedTools,
  context: Context,
  token: string | undefined,
  onAddress: (url: string) => void,
): Promise<AdapterClient> {
  const found = await findDaemon({ ...options, ...(token !== undefined && { token }) }, context);
  const { connect } = await import('../client/index.js');
  onAddress(found.url);
  if (options.start === true) {
    const { startDaemon } = await import('./daemon/start-daemon.js');
    await startDaemon(found.url, options.config, context);
  }
  return connect(found.url, { token: found.token, connectTimeoutMs: CONNECT_MS });
}
