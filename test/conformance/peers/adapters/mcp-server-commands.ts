import { McpServer } from '../mcp-server.js';
import type { Peer } from '../peer.js';

/** A text as one word of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The first part of the answer for a command that fails; the others are its output. */
const FAILED = /^Command failed: /;
/** Characters of any other error that are shown. */
const SHOWN = 200;

/** One tool, `run_command`. */
export const mcpServerCommands: Peer = {
  name: 'mcp-server-commands',
  title: 'mcp-server-commands',
  version: '0.5.0',
  how: 'MCP over stdio: `run_command` with `bash -c`, as its own shell is `sh`; it tells that a command failed, not the exit code, and names no streams',
  install: { npm: ['mcp-server-commands@0.5.0'] },
  notions: new Set(['one_shot', 'stdin', 'surroundings'] as const),
  async open(place) {
    const server = await McpServer.start('mcp-server-commands', place);
    return {
      async run(command, { stdin, cwd, env }) {
        const variables = Object.entries(env ?? {}).map(([name, value]) => `${name}=${quoted(value)} `);
        const { texts, isError } = await server.call('run_command', {
          command: `${variables.join('')}exec bash -c ${quoted(command)}`,
          workdir: cwd ?? place.directory,
          ...(stdin !== undefined && { stdin }),
        });
        const [message = ''] = texts;
        if (isError && !FAILED.test(message)) throw new Error(message.slice(0, SHOWN));
        return { stdout: (isError ? texts.slice(1) : texts).join('') };
      },
      close: () => server.close(),
    };
  },
};
