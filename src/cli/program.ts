import { type Command, CommanderError } from 'commander';

import { hasCode } from '../client/errors.js';
import { commandLineFor, type Context } from './console/context.js';
import type { DaemonOptions } from './connect/daemon-address.js';
import { EXIT, reportFailure, UsageError } from './console/failure.js';
import { createProgram } from './console/subcommand.js';
import { execSubcommand } from './run/exec.js';

/** Runs the command line. Never rejects: errors are reported on standard error and in the exit code. */
export async function runCommandLine(args: readonly string[], context: Context): Promise<void> {
  const isExec = args.find((arg) => !arg.startsWith('-')) === 'exec';
  let commandLine = commandLineFor(context, {});
  try {
    const program = (await createCalled(args[0] ?? '', context)).hook('preAction', (_program, subcommand) => {
      commandLine = commandLineFor(context, subcommand.opts<DaemonOptions>());
    });
    // Many programs print their version for this flag.
    const known = args[0] === '-V' ? ['--version'] : args;
    await program.parseAsync(known, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has printed the message. Requesting help is not an error; a bare `shell-adapter` prints the help and
      // fails.
      if (error.exitCode !== 0) context.exitWith(isExec ? EXIT.execFailed : EXIT.usage);
      return;
    }
    await reportFailure(error, context.stderr, commandLine);
    context.exitWith(isExec ? execExitCode(error) : error instanceof UsageError ? EXIT.usage : EXIT.failed);
  }
}

/** Exit code of `exec` for errors: 126 for a denied command, as shells report a command that cannot be executed. */
const execExitCode = (error: unknown): number => (hasCode(error, 'COMMAND_DENIED') ? EXIT.execDenied : EXIT.execFailed);

/** Programs call `exec` for each of their commands: it is loaded alone, which takes half as long. */
async function createCalled(name: string, context: Context): Promise<Command> {
  if (name === 'exec') return createProgram(context, { exec: execSubcommand });
  const { createProgramFor } = await import('./subcommands.js');
  return createProgramFor(name, context);
}
