import { Option } from 'commander';

import { TOOL_FORMATS, TOOL_SET_NAMES, type ToolFormat, type ToolSet } from '../../core/tools/tool-sets.js';
import { createCommand, examples, type Subcommand } from '../options/subcommand.js';

/** `tools`: prints the definitions of the tools for models. */
export const toolsSubcommand: Subcommand = (context) =>
  createCommand(context, 'tools')
    .summary('print the tools for models, as JSON')
    .description(
      "Prints the definitions of the adapter's tools as JSON, for the `tools` of a request to a model. " +
        'The MCP servers (`shell-adapter mcp`, /mcp) carry out their calls.',
    )
    .addOption(
      new Option('--format <format>', 'whose API they are for')
        .choices(TOOL_FORMATS)
        .default('openai' satisfies ToolFormat),
    )
    .addOption(
      new Option(
        '--tools <selection>',
        'run: run_command alone; core: and sessions, input, confirmation; all: every tool',
      )
        .choices(TOOL_SET_NAMES)
        .default('all' satisfies ToolSet),
    )
    .addHelpText(
      'after',
      examples('shell-adapter tools', 'shell-adapter tools --tools core --format anthropic | jq .[].name'),
    )
    .action(async ({ format, tools }: { readonly format: ToolFormat; readonly tools: ToolSet }) => {
      const { toolDefinitions } = await import('../../core/tools/definitions.js');
      await context.stdout.write(`${JSON.stringify(toolDefinitions(format, tools), null, 2)}\n`);
    });
