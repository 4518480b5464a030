import { Option } from 'commander';

import type { ToolFormat } from '../../core/tools/definitions.js';
import type { ToolSet } from '../../core/tools/tools.js';
import { TOOL_SETS } from './tool-sets.js';
import { createCommand, examples, type Subcommand } from '../options/subcommand.js';

// A literal list, because every call of the command line loads this file, and loading the tools is slow.
const FORMATS = ['openai', 'anthropic'] as const satisfies readonly ToolFormat[];

/** `tools`: prints the definitions of the tools for models. */
export const toolsSubcommand: Subcommand = (context) =>
  createCommand(context, 'tools')
    .summary('print the tools for models, as JSON')
    .description(
      "Prints the definitions of the adapter's tools as JSON, for the `tools` of a request to a model. " +
        'The MCP servers (`shell-adapter mcp`, /mcp) carry out their calls.',
    )
    .addOption(
      new Option('--format <format>', 'whose API they are for').choices(FORMATS).default('openai' satisfies ToolFormat),
    )
    .addOption(
      new Option(
        '--tools <selection>',
        'run: run_command alone; core: and sessions, input, confirmation; all: every tool',
      )
        .choices(TOOL_SETS)
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
