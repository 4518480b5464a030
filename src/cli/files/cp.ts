import { createCommand, examples, type Subcommand } from '../console/subcommand.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';

/** Options of `cp`. */
interface CopyOptions extends DaemonOptions {
  readonly recursive?: boolean;
  readonly session?: string;
}

/** `cp`: copies files to the daemon's machine, or from it. */
export const cpSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'cp'))
    .summary('copy files to the daemon, or from it')
    .description(
      'Copies a file to the machine of the daemon, or from it. A colon marks the side of the daemon, whose paths are relative to its ' +
        'workspace. A copy whose connection breaks goes on where it was; one of a large file also when it is called again. What ' +
        'arrives is checked by SHA-256, and takes its place when it is complete, with its permissions.',
    )
    .argument('<source>', 'what to copy; `:path` for a path of the daemon')
    .argument('<destination>', 'where to put it; a directory that exists gets it under its own name')
    .option('-r, --recursive', 'copy directories with all that is in them; links are left out')
    .option('-s, --session <id>', 'take the paths of the daemon from the directory of this session')
    .addHelpText('after', HELP)
    .action(async (source: string, destination: string, options: CopyOptions) => {
      const { copy } = await import('./copy.js');
      await copy(context, { source, destination }, options);
    });

const HELP = examples(
  'shell-adapter cp data.csv :                 into the workspace',
  'shell-adapter cp :build/app.tar.gz .        from the workspace',
  'shell-adapter cp -r site :/srv/www/site     a directory',
);
