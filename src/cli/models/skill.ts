import { readFileSync } from 'node:fs';

import { createCommand, examples, type Subcommand } from '../options/subcommand.js';

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
