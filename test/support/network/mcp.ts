import { Client, type ClientCapabilities, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { MAIN } from '../../e2e/cli/support.js';

/** Ways to reach the tools, each by clients of both eras of MCP. */
export const MCP_WAYS = [
  ['HTTP, with sessions', { over: 'http', mode: 'legacy' }],
  ['HTTP, revision 2026-07-28', { over: 'http', mode: 'auto' }],
  ['stdio', { over: 'stdio', mode: 'legacy' }],
  ['stdio, revision 2026-07-28', { over: 'stdio', mode: 'auto' }],
] as const;

/** One of them. */
export type McpWay = (typeof MCP_WAYS)[number][1];

/** What a tool gave. */
export interface ToolResult {
  readonly isError: boolean;
  /** The text, which is JSON. */
  readonly answer: Record<string, unknown>;
}

/** How a client is made. */
export interface McpClientOptions {
  readonly token?: string | undefined;
  /** @default 'all' */
  readonly tools?: 'core' | 'run' | 'files' | 'terminal' | 'all';
  /** Further flags of `shell-adapter mcp`, or parameters of the address of `/mcp`. */
  readonly query?: Readonly<Record<string, string>>;
  /** Token of the operator who sits at the client. */
  readonly operatorToken?: string | undefined;
  /** Current directory of `shell-adapter mcp`; @default '/', which leaves commands in the workspace */
  readonly cwd?: string;
  /** What the client says it can do. */
  readonly capabilities?: ClientCapabilities;
  /** Prepares the client before it connects: handlers for what the server asks. */
  readonly prepare?: (client: Client) => void;
}

/** The official client, connected to a daemon. */
export class McpClient implements AsyncDisposable {
  readonly client: Client;

  private constructor(client: Client) {
    this.client = client;
  }

  static async connect(
    url: string,
    { over, mode }: McpWay,
    options: McpClientOptions | string = {},
  ): Promise<McpClient> {
    const {
      token,
      tools = 'all',
      query = {},
      operatorToken,
      cwd,
      capabilities = {},
      prepare,
    } = typeof options === 'string' ? { token: options } : options;
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode }, capabilities });
    prepare?.(client);
    const headers = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(operatorToken !== undefined && { 'x-shell-adapter-operator-token': operatorToken }),
    };
    const address = new URL(`/mcp?${new URLSearchParams({ tools, ...query }).toString()}`, url);
    const flags = Object.entries({ url, tools, ...query, ...(token !== undefined && { token }) });
    await client.connect(
      over === 'http'
        ? new StreamableHTTPClientTransport(address, { requestInit: { headers } })
        : new StdioClientTransport({
            command: process.execPath,
            args: [MAIN, 'mcp', ...flags.flatMap(([name, value]) => [`--${name}`, value])],
            cwd: cwd ?? '/',
            ...(operatorToken !== undefined && {
              env: { ...getDefaultEnvironment(), SHELL_ADAPTER_OPERATOR_TOKEN: operatorToken },
            }),
          }),
    );
    return new McpClient(client);
  }

  /** Calls a tool. */
  async call(
    name: string,
    args: Record<string, unknown> = {},
    options: {
      readonly signal?: AbortSignal;
      readonly onprogress?: (progress: { message?: string | undefined }) => void;
    } = {},
  ): Promise<ToolResult> {
    const { content, isError = false } = await this.client.callTool({ name, arguments: args }, options);
    const [first] = content;
    if (first?.type !== 'text') throw new Error(`${name} gave no text: ${JSON.stringify(content)}`);
    return { isError, answer: JSON.parse(first.text) as Record<string, unknown> };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}
