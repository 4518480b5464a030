import { Option } from 'commander';

import { withDaemonOptions } from '../connect/daemon-address.js';
import type { McpOptions } from './serve-mcp.js';
import { TOOL_SET_NAMES } from '../../core/tools/tool-sets.js';
import { createCommand, examples, type Subcommand } from '../console/subcommand.js';

/** `mcp`: serves the tools for models over standard input and output. */
export const mcpSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'mcp'))
    .summary('offer the daemon to a model, by the Model Context Protocol')
    .description(
      'Speaks the Model Context Protocol on standard input and output, for programs that start their MCP servers themselves. ' +
        'Commands run in the daemon. While there is none, calls are answered with an error that says so; the next call tries again. ' +
        'The daemon speaks MCP over HTTP too, at /mcp.',
    )
    .option(
      '--cwd <directory>',
      'where commands start; by default in the client’s first root, or the current directory',
    )
    .addOption(
      new Option(
        '--tools <selection>',
        'run: run_command alone; core: and sessions, input, confirmation; all: every tool',
      )
        .choices(TOOL_SET_NAMES)
        .default('core' satisfies McpOptions['tools']),
    )
    .option('--start', 'start a daemon when none answers; it goes on until `shell-adapter stop`')
    .addHelpText('after', HELP)
    .action(async (options: McpOptions) => {
      const { serveMcp } = await import('./serve-mcp.js');
      await serveMcp(options, context);
    });

const HELP = `
Where commands start: in --cwd; else in the first root that the client offers; else in the current directory of this program,
unless that is /. Where the daemon has no such directory, or keeps commands in a sandbox around its workspace, they start in its
workspace, and the first answer says so.

Confirmation by the person at the client: with the token of an operator in SHELL_ADAPTER_OPERATOR_TOKEN, what an operator has to
confirm is asked in a form of the client (elicitation). Give that token only to clients that show such forms to a person.
${examples(
  'shell-adapter mcp',
  'shell-adapter mcp --start --tools run',
  'npx @modelcontextprotocol/inspector --cli shell-adapter mcp --method tools/list',
)}

An entry for the configuration of such a program:
  { "mcpServers": { "shell": { "command": "shell-adapter", "args": ["mcp", "--start"] } } }`;
