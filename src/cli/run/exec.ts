import { withDaemonOptions } from '../connect/daemon-address.js';
import {
  createCommand,
  examples,
  readNumber,
  readVariable,
  sandboxOption,
  type Subcommand,
} from '../console/subcommand.js';
import type { ExecOptions } from './run-command.js';

/** The longest time-out of the protocol: 2^31 - 1 ms. */
const MAX_TIMEOUT_S = 2_147_483;

/** `exec`: runs a command through the daemon as if it ran here. */
export const execSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'exec'))
    .summary('run a command through the daemon')
    .description(
      'Runs a command through the daemon: its output comes as it is printed, byte for byte, and its exit code is the ' +
        'exit code of this program. Standard input goes to the command, unless it is a terminal.',
    )
    .argument('<command...>', 'one argument is text for the shell; several are a program and its arguments, not parsed')
    .passThroughOptions()
    .option('-s, --session <id>', 'run it in this session; by default in a fresh environment')
    .option('--cwd <directory>', 'where to run it; by default in the workspace, or where the session is')
    .option(
      '--env <name=value>',
      'a variable for it; may be repeated; without a value, the one from here',
      readVariable(context),
    )
    .option(
      '--timeout <seconds>',
      'end it after so long; by default after command_timeout of the daemon, 10 minutes unless configured',
      readNumber({ min: 0.001, max: MAX_TIMEOUT_S, isWhole: false }),
    )
    .addOption(sandboxOption())
    .option('-t, --tty', 'give it a terminal; what is typed here goes to it, Ctrl-] leaves')
    .option('-n, --no-stdin', 'do not read standard input')
    .option('--merge', 'print its errors among its output, in the exact order in which it writes')
    .option('-q, --quiet', 'print no warnings, and not why the command was ended')
    .option('--json', 'print the result as JSON instead of the output')
    .addHelpText('after', HELP)
    .action(async (words: readonly [string, ...string[]], options: ExecOptions) => {
      const { runCommand } = await import('./run-command.js');
      await runCommand(context, words, options);
    });

const HELP = `${examples(
  "shell-adapter exec 'ls -l | wc -l'        text for the shell",
  'shell-adapter exec -- ls -l "a b"         a program and its arguments, as they are',
  'shell-adapter exec --session ID pwd       in a session, where cd and variables stay',
  "tar c . | shell-adapter exec 'tar x -C y'  standard input of any size",
  "shell-adapter exec -n 'read x || echo no'  without standard input",
)}

Ctrl-C interrupts the command; a third one leaves at once. Standard input of any size, text or bytes, goes to the command
while it runs. Short text is sent with the command, so that the policy can judge what a shell would read. At a terminal
you are asked about a command that this client has to confirm itself, unless --json or --no-stdin is given.

Without --timeout a command may take command_timeout of the configuration: 600 s, if nothing else is set; with --tty at a terminal
as long as command_max_lifetime allows, 24 hours. A minute before the end a warning is printed. Warnings, and what has ended a
command, are lines on standard error that begin with "shell-adapter:".

Exit codes: the command's own; 124 it ran into its time-out; 125 the adapter failed (no daemon, no such session,
wrong usage); 126, 127 the command could not be run, was not found; 126 too when it is denied or has yet to be
confirmed; 128+n ended by signal n; 130 left by Ctrl-], or by Ctrl-C when asked; 141 the reader of standard output has gone.`;
