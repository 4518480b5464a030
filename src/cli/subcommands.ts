import type { Command } from 'commander';

import { accessSubcommands } from './access/access.js';
import { completionSubcommand } from './completion.js';
import type { Context } from './console/context.js';
import { createProgram as createProgramOf, type Subcommand } from './console/subcommand.js';
import { daemonSubcommands } from './daemon/daemon.js';
import { checkpointSubcommands } from './files/checkpoints.js';
import { fileSubcommands } from './files/files.js';
import { modelSubcommands } from './models.js';
import { nodesSubcommand } from './nodes.js';
import { confirmSubcommand } from './run/confirm.js';
import { execSubcommand } from './run/exec.js';
import { judgeSubcommands } from './run/judge.js';
import { commandSubcommands } from './sessions/commands.js';
import { portsSubcommands } from './sessions/ports.js';
import { recordingSubcommands } from './sessions/recordings.js';
import { sessionSubcommands } from './sessions/sessions.js';
import { waitSubcommand } from './sessions/wait.js';

const { serve, status, stop, restart, metadata, doctor, config, version } = daemonSubcommands;
const { check, policy } = judgeSubcommands;
const { open, sessions, top, attach, screenshot, close } = sessionSubcommands;
const { history, output } = commandSubcommands;
const { ports, forward } = portsSubcommands;
const { cp, watch } = fileSubcommands;
const { record, recordings, replay } = recordingSubcommands;
const { checkpoint, diff, restore } = checkpointSubcommands;
const { llm, mcp, tools, skill, request, protocol } = modelSubcommands;
const { token, audit, dashboard } = accessSubcommands;

/** All subcommands by their names, in the order of the help. Help, completions, manual page and reference follow from it. */
const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  serve,
  status,
  stop,
  restart,
  exec: execSubcommand,
  check,
  policy,
  confirm: confirmSubcommand,
  open,
  sessions,
  top,
  history,
  output,
  attach,
  screenshot,
  wait: waitSubcommand,
  ports,
  forward,
  watch,
  close,
  cp,
  record,
  recordings,
  replay,
  checkpoint,
  diff,
  restore,
  llm,
  mcp,
  tools,
  skill,
  token,
  audit,
  nodes: nodesSubcommand,
  dashboard,
  metadata,
  doctor,
  config,
  request,
  protocol,
  completion: completionSubcommand((context) => createProgram(context)),
  version,
};

/**
 * Creates the command line with all subcommands; nothing runs before it parses arguments.
 * @public `scripts/docs/cli-page.mjs` renders it as a page
 */
export const createProgram = (context: Context): Command =>
  createProgramOf(context, SUBCOMMANDS).version(context.version, '-v, --version', 'print the version');

/**
 * Creates the command line as far as a call needs it: with the subcommand that is called. All are needed to list them,
 * and to suggest one.
 * @param name the first argument of the call
 */
export function createProgramFor(name: string, context: Context): Command {
  const called = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
  return called ? createProgramOf(context, { [name]: called }) : createProgram(context);
}
