import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import type { PeerPlace } from './peer.js';

/** What a tool gave. */
export interface ToolAnswer {
  readonly isError: boolean;
  /** One for each part of the answer. */
  readonly texts: readonly string[];
}

/** The tools of an MCP server over stdio, by the official client. */
export class McpServer {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Starts a server in the directory of a trap, with a home folder of its own.
   * @param program a package's program: `desktop-commander`
   */
  static async start(
    program: string,
    place: PeerPlace,
    env: Readonly<Record<string, string>> = {},
  ): Promise<McpServer> {
    const home = join(place.directory, '..', `home-${place.env['CONFORMANCE_ROW'] ?? ''}`);
    mkdirSync(home);
    const client = new Client({ name: 'conformance', version: '1.0.0' });
    const transport = new StdioClientTransport({
      // In a process group of its own: traps that signal their group reach nothing of ours.
      command: 'setsid',
      args: [join(place.installed, 'node_modules/.bin', program)],
      cwd: place.directory,
      env: { ...(process.env as Record<string, string>), ...place.env, ...env, HOME: home },
      stderr: 'ignore',
    });
    await client.connect(transport);
    return new McpServer(client);
  }

  async call(name: string, args: Readonly<Record<string, unknown>>): Promise<ToolAnswer> {
    const { content, isError } = await this.#client.callTool({ name, arguments: { ...args } });
    return { isError: isError === true, texts: content.flatMap((part) => (part.type === 'text' ? [part.text] : [])) };
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}
