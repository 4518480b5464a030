import { once } from 'node:events';
import { resolve as resolvePath } from 'node:path';
import { Writable } from 'node:stream';

import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';

import type { AdapterClient } from '../../client/index.js';
import type { ToolSet } from '../../core/tools/tool-sets.js';
import { createCodec, createMcpServer } from '../../transports/mcp/mcp-server.js';
import { StartDirectory } from '../../transports/mcp/start-directory.js';
import type { Context } from '../console/context.js';
import { type DaemonOptions, findDaemon, givenUrl } from '../connect/daemon-address.js';
import { UsageError } from '../console/failure.js';
import { McpDaemon } from './mcp-daemon.js';

/** Options of `mcp`. */
export interface McpOptions extends DaemonOptions {
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
export async function serveMcp(options: McpOptions, context: Context): Promise<void> {
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
    backend: daemon,
    version: context.version,
    role: undefined,
    tools: options.tools,
    start: new StartDirectory({
      chosen: options.cwd === undefined ? undefined : resolvePath(context.cwd, options.cwd),
      own: context.cwd,
    }),
    operator: operatorToken === undefined ? undefined : { backend: operator, codec: createCodec() },
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
  let stop: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => (stop = resolve));
  const signals = context.onSignal(['SIGINT', 'SIGTERM', 'SIGHUP'], stop);
  await Promise.race([once(stdin, 'end'), once(stdin, 'close'), stdout.broken, stopped]);
  signals[Symbol.dispose]();
  await handle.close();
  stdin.destroy();
}

/** Finds the daemon, starts it if configured, and connects to it for the lifetime of this process. */
async function connectDaemon(
  options: McpOptions,
  context: Context,
  token: string | undefined,
  onAddress: (url: string) => void,
): Promise<AdapterClient> {
  const found = await findDaemon({ ...options, ...(token !== undefined && { token }) }, context);
  const { connect } = await import('../../client/index.js');
  onAddress(found.url);
  if (options.start === true) {
    const { startDaemon } = await import('../daemon/start-daemon.js');
    await startDaemon(found.url, options.config, context);
  }
  return connect(found.url, { token: found.token, connectTimeoutMs: CONNECT_MS });
}
