import type { Command } from 'commander';

import { auditSubcommand } from './access/audit.js';
import { dashboardSubcommand } from './access/dashboard.js';
import { tokenSubcommand } from './access/token.js';
import { checkpointSubcommand, diffSubcommand, restoreSubcommand } from './checkpoints/checkpoint.js';
import { completionSubcommand } from './completion/completion.js';
import { confirmSubcommand } from './confirmations/confirm.js';
import { configSubcommand } from './daemon/config.js';
import { doctorSubcommand } from './daemon/doctor.js';
import { metadataSubcommand } from './daemon/metadata.js';
import { restartSubcommand, serveSubcommand, stopSubcommand, versionSubcommand } from './daemon/serve.js';
import { statusSubcommand } from './daemon/status.js';
import { cpSubcommand } from './files/cp.js';
import { llmSubcommand } from './models/llm.js';
import { mcpSubcommand } from './models/mcp.js';
import { protocolSubcommand, skillSubcommand, toolsSubcommand } from './models/tools.js';
import { nodesSubcommand } from './nodes/nodes.js';
import { forwardSubcommand } from './waiting/forward.js';
import { recordingsSubcommand, recordSubcommand, replaySubcommand } from './recordings/recordings.js';
import { checkSubcommand } from './run/check.js';
import { execSubcommand } from './run/exec.js';
import { policySubcommand } from './run/policy.js';
import { requestSubcommand } from './run/request.js';
import { attachSubcommand, closeSubcommand, sessionsSubcommand, topSubcommand } from './sessions/sessions.js';
import { historySubcommand } from './sessions/history.js';
import { openSubcommand } from './sessions/open.js';
import { outputSubcommand } from './sessions/output.js';
import { screenshotSubcommand } from './sessions/screenshot.js';
import { portsSubcommand } from './waiting/ports.js';
import { waitSubcommand } from './waiting/wait.js';
import { watchSubcommand } from './waiting/watch.js';
import type { Context } from './console/context.js';
import type { Subcommand } from './console/subcommand.js';
import { createRoot } from './root.js';

/** All subcommands by their names, in the order of the help. Each is in a file of its own. */
const SUBCOMMANDS: ReadonlyMap<string, Subcommand> = new Map([
  ['serve', serveSubcommand],
  ['status', statusSubcommand],
  ['stop', stopSubcommand],
  ['restart', restartSubcommand],
  ['exec', execSubcommand],
  ['check', checkSubcommand],
  ['policy', policySubcommand],
  ['confirm', confirmSubcommand],
  ['open', openSubcommand],
  ['sessions', sessionsSubcommand],
  ['top', topSubcommand],
  ['history', historySubcommand],
  ['output', outputSubcommand],
  ['attach', attachSubcommand],
  ['screenshot', screenshotSubcommand],
  ['wait', waitSubcommand],
  ['ports', portsSubcommand],
  ['forward', forwardSubcommand],
  ['watch', watchSubcommand],
  ['close', closeSubcommand],
  ['cp', cpSubcommand],
  ['record', recordSubcommand],
  ['recordings', recordingsSubcommand],
  ['replay', replaySubcommand],
  ['checkpoint', checkpointSubcommand],
  ['diff', diffSubcommand],
  ['restore', restoreSubcommand],
  ['llm', llmSubcommand],
  ['mcp', mcpSubcommand],
  ['tools', toolsSubcommand],
  ['skill', skillSubcommand],
  ['token', tokenSubcommand],
  ['audit', auditSubcommand],
  ['nodes', nodesSubcommand],
  ['dashboard', dashboardSubcommand],
  ['metadata', metadataSubcommand],
  ['doctor', doctorSubcommand],
  ['config', configSubcommand],
  ['request', requestSubcommand],
  ['protocol', protocolSubcommand],
  ['completion', completionSubcommand],
  ['version', versionSubcommand],
]);

/**
 * Creates the command line with all subcommands; nothing runs before it parses arguments.
 * @public `scripts/docs/cli-page.mjs` renders it as a page
 */
export function createProgram(context: Context): Command {
  const program = createRoot(context).version(context.version, '-v, --version', 'print the version');
  for (const subcommand of SUBCOMMANDS.values()) program.addCommand(subcommand(context));
  return program;
}

/**
 * Creates the command line as far as a call needs it: with the subcommand that is called. All are needed to list them, to
 * suggest one, and to complete them.
 * @param name the first argument of the call
 */
export function createProgramFor(name: string, context: Context): Command {
  const called = SUBCOMMANDS.get(name);
  if (!called || called === completionSubcommand) return createProgram(context);
  return createRoot(context).addCommand(called(context));
}
