import { withDaemonOptions } from '../connect/daemon-address.js';
import { sandboxOption } from '../options/sandbox-option.js';
import { createCommand, examples, type Subcommand } from '../options/subcommand.js';
import type { RecordOptions } from './record-session.js';

/** `record`: works in a shell of the daemon, and records that. */
export const recordSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'record'))
    .summary('work in a recorded session')
    .description(
      'Opens a session with a shell at this terminal, and records it. Its end is that of the shell (`exit`, Ctrl-D), or ' +
        'Ctrl-]. Then the id of the recording is printed.',
    )
    .argument('[file]', 'save the recording in this file too, which must not exist')
    .option('--title <text>', 'a name for people')
    .option('--cwd <directory>', 'where it starts; by default in the workspace of the daemon')
    .option('--shell <shell>', 'bash, zsh, sh or fish, or the path of one')
    .addOption(sandboxOption())
    .addHelpText('after', HELP)
    .action(async (file: string | undefined, options: RecordOptions) => {
      const { recordSession } = await import('./record-session.js');
      await recordSession(context, file, options);
    });

const HELP = `${examples('shell-adapter record', "shell-adapter record --title 'how to deploy' deploy.cast")}

Text that the terminal does not echo, such as passwords, is recorded as ***. The policy may ask whether the shell may run.
The shell ends at the latest after adapter.command_max_lifetime.

Exit codes: that of the shell; 1 it could not be recorded or saved, 2 wrong usage, 126 the shell may not run, 130 left by Ctrl-].`;
