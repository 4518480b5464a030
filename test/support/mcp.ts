import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { MAIN } from '../e2e/cli-support.js';

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

/** The official client, connected to a daemon. */
export class McpClient implements AsyncDisposable {
  readonly client: Client;

  private constructor(client: Client) {
    this.client = client;
  }

  static async connect(url: string, { over, mode }: McpWay, token?: string): Promise<McpClient> {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    await client.connect(
      over === 'http'
        ? new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } })
        : new StdioClientTransport({
            command: process.execPath,
            args: [MAIN, 'mcp', '--url', url, ...(token === undefined ? [] : ['--token', token])],
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
