import type { Command } from 'commander';

import type { Context } from './console/context.js';
import { createGroup, examples } from './console/subcommand.js';

/** Creates the command line without subcommands, and without what is not given beside one. */
export const createRoot = (context: Context): Command =>
  createGroup(context, 'shell-adapter')
    .description('Runs shell commands for programs: persistent sessions, exact output, nothing left behind.')
    .showHelpAfterError(`(${context.programName} --help lists the commands)`)
    .enablePositionalOptions()
    .addHelpText('after', HELP);

const HELP = `${examples(
  'shell-adapter serve                      start the daemon, in the foreground',
  "shell-adapter exec 'make test 2>&1'      run a command through it",
  'shell-adapter doctor                     see what this machine can do',
)}

The daemon is found by --url, the variable SHELL_ADAPTER_URL, or the configuration file: --config,
SHELL_ADAPTER_CONFIG, ~/.config/shell-adapter/config.yaml, or config/shell_adapter.yaml below the current
directory if it is trusted (config trust).
A token, where one is needed, is given by --token or better by SHELL_ADAPTER_TOKEN, which other users do not see.

Exit codes: 0 done, 1 failed, 2 wrong usage. \`exec\` and \`check\` have others, see their help.`;
