import { once } from 'node:events';
import { Writable } from 'node:stream';

import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';

import { ClientError, type AdapterClient } from '../client.js';
import type { RequestInput, RequestName } from '../core/protocol/requests.js';
import { createMcpServer } from '../transports/mcp/mcp-server.js';
import type { ToolBackend } from '../transports/mcp/tool-call.js';
import type { Context } from './context.js';
import type { DaemonOptions } from './daemon-address.js';
import { withDaemon } from './with-daemon.js';

/** Serves MCP until standard input ends, or a signal comes. */
export function serveMcp(options: DaemonOptions, context: Context): Promise<void> {
  return withDaemon(options, context, async (client) => {
    const { stdin, stdout, stderr, version } = context;
    const backend = requestsOf(client);
    const output = new Writable({
      write: (chunk: Uint8Array, _encoding, done) => {
        void stdout.write(chunk).then(() => {
          done();
        });
      },
    });
    const handle = serveStdio(() => createMcpServer({ backend, version, role: undefined }), {
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
  });
}

/** Has a daemon make the requests; without a connection they wait for the next one. */
const requestsOf = (client: AdapterClient): ToolBackend => ({
  request: async (name, payload) => {
    try {
      // Its schema has parsed it.
      return await client.request(name, payload as RequestInput<RequestName>);
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      const { code, message, details } = error;
      return { error: { code, message, ...(details && { details }) } };
    }
  },
});
