import { MAX_TIMER_MS } from '../../core/time.js';
import { DAEMON_OPTIONS } from '../connect/requesting.js';
import { type Entry, ENV_OPTION, path, SANDBOX_OPTION, seconds, type Subcommand } from '../console/subcommand.js';

export const COMMAND_WORDS: Entry = [
  '<command...>',
  'one argument is text for the shell; several are a program and its arguments, not parsed',
];

export const execSubcommand: Subcommand = {
  summary: 'run a command through the daemon',
  description:
    'Runs a command through the daemon: its output comes as it is printed, byte for byte, and its exit code is the ' +
    'exit code of this program. Standard input goes to the command, unless it is a terminal.',
  arguments: [COMMAND_WORDS],
  passesOptions: true,
  options: [
    ...DAEMON_OPTIONS,
    ['-s, --session <id>', 'run it in this session; by default in a fresh environment'],
    ['--cwd <directory>', 'where to run it; by default in the workspace, or where the session is', { read: path }],
    ENV_OPTION,
    [
      '--timeout <seconds>',
      'end it after so long; by default after command_timeout of the daemon, 10 minutes unless configured',
      { read: seconds(1, MAX_TIMER_MS) },
    ],
    SANDBOX_OPTION,
    ['-t, --tty', 'give it a terminal; what is typed here goes to it, Ctrl-] leaves'],
    ['-n, --no-stdin', 'do not read standard input'],
    ['--merge', 'print its errors among its output, in the exact order in which it writes'],
    ['-q, --quiet', 'print no warnings, and not why the command was ended'],
    ['--json', 'print the result as JSON instead of the output'],
  ],
  examples: [
    "shell-adapter exec 'ls -l | wc -l'        text for the shell",
    'shell-adapter exec -- ls -l "a b"         a program and its arguments, as they are',
    'shell-adapter exec --session ID pwd       in a session, where cd and variables stay',
    "tar c . | shell-adapter exec 'tar x -C y'  standard input of any size",
    "shell-adapter exec -n 'read x || echo no'  without standard input",
  ],
  notes: `\
Ctrl-C interrupts the command; a third one leaves at once. Standard input of any size, text or bytes, goes to the command
while it runs. Short text is sent with the command, so that the policy can judge what a shell would read. At a terminal
you are asked about a command that this client has to confirm itself, unless --json or --no-stdin is given.

Without --timeout a command may take command_timeout of the configuration: 600 s, if nothing else is set; with --tty at a terminal
as long as command_max_lifetime allows, 24 hours. A minute before the end a warning is printed. Warnings, and what has ended a
command, are lines on standard error that begin with "shell-adapter:".`,
  exitCodes: `the command's own; 124 it ran into its time-out; 125 the adapter failed (no daemon, no such session,
wrong usage); 126, 127 the command could not be run, was not found; 126 too when it is denied or has yet to be
confirmed; 128+n ended by signal n; 130 left by Ctrl-], or by Ctrl-C when asked; 141 the reader of standard output has gone.`,
  load: async () => (await import('./run-command.js')).runCommand,
};
