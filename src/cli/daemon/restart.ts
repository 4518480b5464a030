import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { createCommand, examples, type Subcommand } from '../options/subcommand.js';

/** `restart`: stops the daemon, and starts it again in the same way. */
export const restartSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'restart'))
    .summary('start the daemon again, as after an upgrade')
    .description(
      'Stops the daemon at the address, and starts it again with the same arguments, environment and directory, in the ' +
        'background. With `adapter.detach: true` sessions and running commands go on meanwhile; otherwise they end. It has ' +
        'to be a process of this user, on this machine.',
    )
    .addHelpText('after', HELP)
    .action(async (options: DaemonOptions) => {
      const { restartDaemon } = await import('./restart-daemon.js');
      await restartDaemon(context, options);
    });

const HELP = `${examples('shell-adapter restart', 'shell-adapter restart --url http://127.0.0.1:9000')}

Exit codes: 0 the daemon runs again, 1 it could not be stopped or started, 2 wrong usage.`;
