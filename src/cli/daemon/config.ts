import type { Command } from 'commander';

import type { Context } from '../console/context.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { createCommand, createGroup, examples, type Subcommand } from '../options/subcommand.js';

/** `config`: checks and prints configurations; never modifies them. */
export const configSubcommand: Subcommand = (context) =>
  createGroup(context, 'config')
    .summary('check a configuration file, or show what is in force')
    .description('Checks and shows configurations; changes none.')
    .addCommand(checkCommand(context))
    .addCommand(showCommand(context));

const checkCommand = (context: Context): Command =>
  createCommand(context, 'config check')
    .summary('report all errors of a configuration file')
    .description('Prints "ok", or everything that is wrong with a configuration file as FILE:LINE:COLUMN: what.')
    .argument('[file]', 'the file; by default the one that `serve` would use')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `${examples('shell-adapter config check config/shell_adapter.yaml')}\n\nExit codes: 0 ok, 1 not ok.`,
    )
    .action(async (file: string | undefined, { json }: { json?: boolean }) => {
      const { checkConfiguration } = await import('./inspect-configuration.js');
      await checkConfiguration(context, file, json ?? false);
    });

const showCommand = (context: Context): Command =>
  withDaemonOptions(createCommand(context, 'config show'))
    .summary('show the settings in force, and where they come from')
    .description(
      'Prints the settings that `serve` would use here: file, environment and defaults together. If a daemon answers, its ' +
        'configuration file and workspace are printed first.',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', examples('shell-adapter config show', 'shell-adapter config show --json | jq .adapter'))
    .action(async ({ json, ...options }: DaemonOptions & { json?: boolean }) => {
      const { showConfiguration } = await import('./inspect-configuration.js');
      await showConfiguration(context, options, json ?? false);
    });
