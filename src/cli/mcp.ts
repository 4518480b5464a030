import { type DaemonOptions, withDaemonOptions } from './daemon-address.js';
import { createCommand, examples, type Subcommand } from './subcommand.js';

/** `mcp`: the tools for models, over standard input and output. */
export const mcpSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'mcp'))
    .summary('offer the daemon to a model, by the Model Context Protocol')
    .description(
      'Speaks the Model Context Protocol on standard input and output, for programs that start their MCP servers themselves. ' +
        'Commands run in the daemon, which must be running; one that also speaks MCP over HTTP does so at /mcp.',
    )
    .addHelpText('after', HELP)
    .action(async (options: DaemonOptions) => {
      const { serveMcp } = await import('./serve-mcp.js');
      await serveMcp(options, context);
    });

const HELP = `${examples(
  'shell-adapter mcp',
  'npx @modelcontextprotocol/inspector --cli shell-adapter mcp --method tools/list',
)}

An entry for the configuration of such a program:
  { "mcpServers": { "shell": { "command": "shell-adapter", "args": ["mcp"] } } }`;
