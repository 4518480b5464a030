import { Option } from 'commander';

import { TOOL_FORMATS, type ToolFormat, toolDefinitions } from '../core/tools/definitions.js';
import { createCommand, examples, type Subcommand } from './subcommand.js';

/** `tools`: the definitions of the tools for models. */
export const toolsSubcommand: Subcommand = (context) =>
  createCommand(context, 'tools')
    .summary('print the tools for models, as JSON')
    .description(
      "Prints the definitions of the adapter's tools as JSON, for the `tools` of a request to a model. A call of one is made\n" +
        'with the MCP servers (`shell-adapter mcp`, /mcp), or as the request of the protocol that has its name.',
    )
    .addOption(
      new Option('--format <format>', 'whose API they are for')
        .choices(TOOL_FORMATS)
        .default('openai' satisfies ToolFormat),
    )
    .addHelpText('after', examples('shell-adapter tools', 'shell-adapter tools --format anthropic | jq .[].name'))
    .action(async ({ format }: { readonly format: ToolFormat }) => {
      await context.stdout.write(`${JSON.stringify(toolDefinitions(format), null, 2)}\n`);
    });
