import type { Command } from 'commander';

import type { Context } from '../console/context.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import type { TrustOptions } from './manage-configurations.js';
import { createCommand, createGroup, examples, type Subcommand } from '../console/subcommand.js';

/** `config`: checks and prints configurations, and says which files this user's calls obey. */
export const configSubcommand: Subcommand = (context) =>
  createGroup(context, 'config')
    .summary('check, show or create a configuration file, or trust one')
    .description(
      'Checks and shows configurations, writes one of your own, and says which file of a directory is trusted.',
    )
    .addCommand(checkCommand(context))
    .addCommand(showCommand(context))
    .addCommand(initCommand(context))
    .addCommand(trustCommand(context));

const checkCommand = (context: Context): Command =>
  createCommand(context, 'config check')
    .summary('report all errors of a configuration file')
    .description('Prints "ok", or everything that is wrong with a configuration file as FILE:LINE:COLUMN: what.')
    .argument('[file]', 'the file; by default the one that `serve` would use')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `${examples('shell-adapter config check ~/.config/shell-adapter/config.yaml')}\n\nExit codes: 0 ok, 1 not ok.`,
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

const initCommand = (context: Context): Command =>
  createCommand(context, 'config init')
    .summary('write your own configuration file')
    .description(
      'Writes ~/.config/shell-adapter/config.yaml, a copy of the shipped file, and prints its path. All calls of yours use it ' +
        'from then on, unless --config or SHELL_ADAPTER_CONFIG names another one.',
    )
    .option('--force', 'overwrite a file that exists')
    .addHelpText('after', examples('"${EDITOR:-vi}" "$(shell-adapter config init)"'))
    .action(async (options: { force?: boolean }) => {
      const { initConfiguration } = await import('./manage-configurations.js');
      await initConfiguration(context, options);
    });

const trustCommand = (context: Context): Command =>
  createCommand(context, 'config trust')
    .summary('trust the configuration file of a directory')
    .description(
      'Lets calls in a directory use its config/shell_adapter.yaml. Read the file first: it can send your tokens to another ' +
        'host, and let every command run. The trust ends with any change of the file.',
    )
    .argument('[file]', 'the file; by default config/shell_adapter.yaml below the current directory')
    .option('--list', 'list the files that are trusted')
    .option('--revoke', 'trust the file no longer')
    .option('--json', 'with --list: print JSON')
    .addHelpText(
      'after',
      examples(
        'shell-adapter config trust',
        'shell-adapter config trust --list',
        'shell-adapter config trust --revoke ~/project/config/shell_adapter.yaml',
      ),
    )
    .action(async (file: string | undefined, options: TrustOptions) => {
      const { trustConfiguration } = await import('./manage-configurations.js');
      await trustConfiguration(context, file, options);
    });
