import { createCommand, examples, type Subcommand } from '../options/subcommand.js';

/** `version`: prints the version of this program; `status` prints that of the daemon. */
export const versionSubcommand: Subcommand = (context) =>
  createCommand(context, 'version')
    .summary('print the version')
    .description('Prints the version of this program. `status` prints that of the daemon.')
    .addHelpText('after', examples('shell-adapter version'))
    .action(() => context.stdout.write(`${context.version}\n`));
