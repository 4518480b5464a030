import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { createCommand, examples, type Subcommand } from '../options/subcommand.js';

/** `stop`: stops the daemon. */
export const stopSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'stop'))
    .summary('stop the daemon, and wait until it has ended')
    .description(
      'Stops the daemon at the address, as Ctrl-C does where it was started: its clients are told, and all commands and ' +
        'sessions end, also those that adapter.detach has outlive it. Returns when all have ended. It has to be a process of ' +
        'this user, on this machine.',
    )
    .addHelpText('after', HELP)
    .action(async (options: DaemonOptions) => {
      const { stopDaemon } = await import('./stop-daemon.js');
      await stopDaemon(context, options);
    });

const HELP = `${examples('shell-adapter stop', 'shell-adapter stop --url http://127.0.0.1:9000')}

Exit codes: 0 stopped, or none was running; 1 the daemon could not be stopped, 2 wrong usage.`;
