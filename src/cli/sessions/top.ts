import { withDaemonOptions } from '../connect/daemon-address.js';
import { createCommand, examples, type Subcommand } from '../options/subcommand.js';
import type { TopOptions } from './show-top.js';

/** `top`: shows what runs and what it uses. */
export const topSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'top'))
    .summary('show what runs, and what it uses')
    .description(
      'Shows the machine, the sessions and the running commands with their CPU time and memory, every second until Ctrl-C.',
    )
    .option('--once', 'show them once; always so where the output is no terminal, unless --json is given')
    .option('--json', 'print a line of JSON for each change; with --once one object')
    .addHelpText(
      'after',
      examples('shell-adapter top', 'shell-adapter top --once', 'shell-adapter top --once --json | jq .host'),
    )
    .action(async (options: TopOptions) => {
      const { showTop } = await import('./show-top.js');
      await showTop(context, options);
    });
