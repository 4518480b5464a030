import { howToConfirmRestore, printRestored } from './restore-output.js';
import { commandLineFor } from '../console/command-line.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { EXIT } from '../console/failure.js';
import { createCommand, examples, type Subcommand } from '../options/subcommand.js';
import { withDaemon } from '../connect/with-daemon.js';

interface RestoreOptions extends DaemonOptions {
  readonly json?: boolean;
}

/** `restore`: restores the workspace of the daemon from a checkpoint. */
export const restoreSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'restore'))
    .summary('restore the workspace from a checkpoint')
    .description(
      'Restores the workspace of the daemon, or paths of it, from a checkpoint: files added since are removed. ' +
        'The current state is saved first; the last line says how to undo the restore.',
    )
    .argument('<checkpoint>', 'its id')
    .argument('[path...]', 'only these, relative to the workspace, each with all that is in it')
    .option('--json', 'print JSON, as `restore_workspace` answers')
    .addHelpText('after', HELP)
    .action(async (id: string, paths: readonly string[], { json, ...options }: RestoreOptions) => {
      const answer = await withDaemon(options, context, (client) =>
        client.request('restore_workspace', {
          checkpoint_id: id,
          paths: paths.length === 0 ? undefined : [...paths],
        }),
      );
      const commandLine = commandLineFor(context, options);
      const isPending = answer.status === 'confirmation_required';
      if (isPending) context.exitWith(EXIT.execDenied);
      if (json === true) await context.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
      else if (isPending) await context.stderr.write(howToConfirmRestore(commandLine, answer));
      else await printRestored(context, commandLine, answer);
    });

const HELP = `${examples('shell-adapter restore checkpoint_ID', 'shell-adapter restore checkpoint_ID src/main.c docs')}

When it fails, nothing has changed. A .git directory is never touched. If other tokens have run commands in the
workspace since the checkpoint, and files would be removed or overwritten, the restore has to be confirmed first.

Exit codes: 0 restored, 1 failed, 126 not confirmed yet.`;
