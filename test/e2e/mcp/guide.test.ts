import { readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { AGENTS } from '../../real-agents/agents.js';
import { readSnippets, SHOWN_URL, type Snippet } from '../../real-agents/guide-page.js';
import { TestDaemon } from '../../support/daemon.js';
import { MAIN, makeFolder, urlVariable } from '../cli/support.js';
import { readNotedBlocks } from '../../real-agents/noted-blocks.js';

const PAGE = fileURLToPath(new URL('../../../docs/guide/agents.md', import.meta.url));

/** A server as a snippet describes it. */
interface Server {
  readonly command?: string | readonly string[];
  readonly args?: readonly string[];
  readonly url?: string;
  readonly httpUrl?: string;
}

/** Keys under which programs keep their servers. */
const SERVER_KEYS = ['mcpServers', 'servers', 'mcp', 'mcp_servers'];

/** The server that a snippet describes; undefined for a snippet about something else. */
function serverIn({ kind, detail, text }: Snippet): Server | undefined {
  if (kind === 'check') return undefined;
  if (kind === 'commands') {
    const [, program] = /\b(shell-adapter mcp.*)$/m.exec(text) ?? [];
    return program === undefined ? { url: /http:\S+/.exec(text)?.[0] ?? '' } : { command: program.split(' ') };
  }
  const settings = detail.endsWith('.toml') ? parseTable(text) : (JSON.parse(text) as Record<string, unknown>);
  const servers = SERVER_KEYS.map((key) => settings[key]).find((value) => value !== undefined);
  return (servers as { readonly shell?: Server } | undefined)?.shell;
}

/** One TOML table whose values are JSON too. */
function parseTable(text: string): Record<string, unknown> {
  const [, section = '', name = ''] = /^\[(\w+)\.(\w+)\]$/m.exec(text) ?? [];
  const pairs = [...text.matchAll(/^(\w+) = (.+)$/gm)].map(
    ([, key = '', value = '']) => [key, JSON.parse(value) as unknown] as const,
  );
  return { [section]: { [name]: Object.fromEntries(pairs) } };
}

const shown = readSnippets(SHOWN_URL);
const withServer = shown.filter((snippet) => serverIn(snippet) !== undefined);

describe('docs/guide/agents.md', () => {
  const folder = makeFolder();
  let daemon: TestDaemon;

  beforeAll(async () => {
    daemon = await TestDaemon.start();
    symlinkSync(MAIN, join(folder.path, 'shell-adapter'));
  });

  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  it('has no block that is not tried', () => {
    const blocks = readNotedBlocks(readFileSync(PAGE, 'utf8'));
    expect(blocks).toHaveLength(shown.length);
  });

  it('tells for every program how to set up stdio, and HTTP where it takes that', () => {
    const pairs = new Set(withServer.map(({ program, transport }) => `${program} ${transport}`));
    const both = [...AGENTS.map(({ name }) => name), 'cursor', 'vscode'];
    const expected = both.flatMap((program) => [`${program} stdio`, `${program} HTTP`]);
    expect([...pairs].toSorted()).toEqual([...expected, 'claudedesktop stdio'].toSorted());
  });

  it.each(withServer)('line $line, $program, $transport: the server runs a command', async ({ line, transport }) => {
    const snippet = readSnippets(daemon.url).find((candidate) => candidate.line === line);
    const server = serverIn(snippet!);
    const url = server?.url ?? server?.httpUrl;
    const [command = '', ...args] = [server?.command ?? [], server?.args ?? []].flat();
    expect(url === undefined).toBe(transport === 'stdio');
    const client = new Client({ name: 'test', version: '1' });
    const env = {
      PATH: [folder.path, dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
      ...urlVariable(daemon),
    };
    await client.connect(
      url === undefined
        ? new StdioClientTransport({ command, args, env, cwd: folder.path })
        : new StreamableHTTPClientTransport(new URL(url)),
    );
    try {
      const answer = await client.callTool({ name: 'run_command', arguments: { command: 'echo hi' } });
      const [text] = answer.content;
      expect(text).toMatchObject({ type: 'text', text: expect.stringContaining('"stdout":"hi\\n"') as string });
    } finally {
      await client.close();
    }
  });
});
