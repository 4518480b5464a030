import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';

import { Option } from 'commander';

import { TOOL_FORMATS, TOOL_SET_NAMES, type ToolFormat, type ToolSet } from '../../core/tools/tool-sets.js';
import { CommandLineError } from '../console/failure.js';
import { createCommand, examples, type Subcommand } from '../console/subcommand.js';

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
      const { toolDefinitions } = await import('../../core/tools/tools.js');
      await context.stdout.write(`${JSON.stringify(toolDefinitions(format, tools), null, 2)}\n`);
    });

interface ProtocolOptions {
  readonly write?: string;
  readonly check?: string;
}

/** `protocol`: prints the page of the wire protocol, generated from the tables that the daemon uses. */
export const protocolSubcommand: Subcommand = (context) =>
  createCommand(context, 'protocol')
    .summary('print the wire protocol, as Markdown')
    .description('Prints the page that documents the wire protocol, as Markdown.')
    .option('--write <file>', 'write it to a file')
    .option('--check <file>', 'exit with 1 when a file does not hold exactly that page')
    .addHelpText(
      'after',
      examples('shell-adapter protocol | less', 'shell-adapter protocol --check docs/reference/protocol.md'),
    )
    .action(async ({ write, check }: ProtocolOptions) => {
      const { renderProtocolDocument } = await import('../../core/descriptions/protocol-page.js');
      const page = renderProtocolDocument();
      if (write !== undefined) await writeFile(resolve(context.cwd, write), page);
      if (check !== undefined) await checkPage(resolve(context.cwd, check), check, page);
      if (write === undefined && check === undefined) await context.stdout.write(page);
    });

async function checkPage(path: string, shownPath: string, page: string): Promise<void> {
  const hint = 'Make it again: npm run docs';
  let found: string;
  try {
    found = await readFile(path, 'utf8');
  } catch (cause) {
    // Missing or not readable: the system's message contains the reason.
    throw new CommandLineError(`${shownPath} cannot be read: ${(cause as Error).message}`, { hint, cause });
  }
  if (found === page) return;
  throw new CommandLineError(`${shownPath} is not current: the tables in src/core/protocol have changed since`, {
    hint,
  });
}

/** The relative path is the same from `src/cli/` and `dist/cli/`. */
const SKILL_FILE = new URL('../../../skills/shell-adapter/SKILL.md', import.meta.url);

/** `skill`: prints the page that describes to an agent when to use which tool. */
export const skillSubcommand: Subcommand = (context) =>
  createCommand(context, 'skill')
    .summary('print the skill file for agents')
    .description('Prints SKILL.md: one page that tells an agent when to use which tool of `shell-adapter mcp`.')
    .addHelpText(
      'after',
      examples(
        'mkdir -p ~/.claude/skills/shell-adapter',
        'shell-adapter skill > ~/.claude/skills/shell-adapter/SKILL.md',
      ),
    )
    .action(async () => {
      await context.stdout.write(readFileSync(SKILL_FILE));
    });
