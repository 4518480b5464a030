import { type Command, CommanderError } from 'commander';

import { hasCode } from '../client/contract/errors.js';
import { attachSubcommand } from './sessions/attach.js';
import { auditSubcommand } from './access/audit.js';
import { checkSubcommand } from './run/check.js';
import { checkpointSubcommand } from './checkpoints/checkpoint.js';
import { closeSubcommand } from './sessions/close.js';
import { configSubcommand } from './daemon/config.js';
import { confirmSubcommand } from './confirmations/confirm.js';
import type { Context } from './console/context.js';
import { commandLineFor } from './console/command-line.js';
import type { DaemonOptions } from './connect/daemon-address.js';
import { dashboardSubcommand } from './access/dashboard.js';
import { cpSubcommand } from './files/cp.js';
import { diffSubcommand } from './checkpoints/diff.js';
import { doctorSubcommand } from './daemon/doctor.js';
import { execSubcommand } from './run/exec.js';
import { EXIT, reportFailure, UsageError } from './console/failure.js';
import { llmSubcommand } from './models/llm.js';
import { mcpSubcommand } from './models/mcp.js';
import { metadataSubcommand } from './daemon/metadata.js';
import { nodesSubcommand } from './nodes/nodes.js';
import { openSubcommand } from './sessions/open.js';
import { protocolSubcommand } from './models/protocol.js';
import { recordSubcommand } from './recordings/record.js';
import { recordingsSubcommand } from './recordings/recordings.js';
import { replaySubcommand } from './recordings/replay.js';
import { restartSubcommand } from './daemon/restart.js';
import { restoreSubcommand } from './checkpoints/restore.js';
import { serveSubcommand } from './daemon/serve.js';
import { sessionsSubcommand } from './sessions/sessions.js';
import { historySubcommand } from './sessions/history.js';
import { outputSubcommand } from './sessions/output.js';
import { screenshotSubcommand } from './sessions/screenshot.js';
import { topSubcommand } from './sessions/top.js';
import { skillSubcommand } from './models/skill.js';
import { statusSubcommand } from './daemon/status.js';
import { stopSubcommand } from './daemon/stop.js';
import { completionSubcommand } from './completion/completion.js';
import { versionSubcommand } from './daemon/version.js';
import { createGroup, examples, type Subcommand } from './options/subcommand.js';
import { forwardSubcommand } from './previews/forward.js';
import { portsSubcommand } from './waiting/ports.js';
import { waitSubcommand } from './waiting/wait.js';
import { watchSubcommand } from './waiting/watch.js';
import { tokenSubcommand } from './access/token.js';
import { toolsSubcommand } from './models/tools.js';

/** All subcommands. Each is in a file of its own. */
const SUBCOMMANDS: readonly Subcommand[] = [
  serveSubcommand,
  statusSubcommand,
  stopSubcommand,
  restartSubcommand,
  execSubcommand,
  checkSubcommand,
  confirmSubcommand,
  openSubcommand,
  sessionsSubcommand,
  topSubcommand,
  historySubcommand,
  outputSubcommand,
  attachSubcommand,
  screenshotSubcommand,
  waitSubcommand,
  portsSubcommand,
  forwardSubcommand,
  watchSubcommand,
  closeSubcommand,
  cpSubcommand,
  recordSubcommand,
  recordingsSubcommand,
  replaySubcommand,
  checkpointSubcommand,
  diffSubcommand,
  restoreSubcommand,
  llmSubcommand,
  mcpSubcommand,
  toolsSubcommand,
  skillSubcommand,
  tokenSubcommand,
  auditSubcommand,
  nodesSubcommand,
  dashboardSubcommand,
  metadataSubcommand,
  doctorSubcommand,
  configSubcommand,
  protocolSubcommand,
  completionSubcommand,
  versionSubcommand,
];

/** Runs the command line. Never rejects: errors are reported on standard error and in the exit code. */
export async function runCommandLine(args: readonly string[], context: Context): Promise<void> {
  const isExec = args.find((arg) => !arg.startsWith('-')) === 'exec';
  let commandLine = commandLineFor(context, {});
  try {
    const program = createProgram(context).hook('preAction', (_program, subcommand) => {
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

/**
 * Creates the command line with all subcommands; nothing runs before it parses arguments.
 * @public `scripts/docs/cli-page.mjs` renders it as a page
 */
export function createProgram(context: Context): Command {
  const program = createGroup(context, 'shell-adapter')
    .description('Runs shell commands for programs: persistent sessions, exact output, nothing left behind.')
    .version(context.version, '-v, --version', 'print the version')
    .showHelpAfterError(`(${context.programName} --help lists the commands)`)
    .enablePositionalOptions()
    .addHelpText('after', HELP);
  for (const subcommand of SUBCOMMANDS) program.addCommand(subcommand(context));
  return program;
}

const HELP = `${examples(
  'shell-adapter serve                      start the daemon, in the foreground',
  "shell-adapter exec 'make test 2>&1'      run a command through it",
  'shell-adapter doctor                     see what this machine can do',
)}

The daemon is found by --url, the variable SHELL_ADAPTER_URL, or the configuration file:
--config, SHELL_ADAPTER_CONFIG, config/shell_adapter.yaml below the current directory.
A token, where one is needed, is given by --token or better by SHELL_ADAPTER_TOKEN, which other users do not see.

Exit codes: 0 done, 1 failed, 2 wrong usage. \`exec\` and \`check\` have others, see their help.`;
