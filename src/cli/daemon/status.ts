import type { Context } from '../console/context.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import type { FoundDaemon } from '../connect/find-status.js';
import { alignColumns, formatSpan, paint } from '../console/style.js';
import { createCommand, examples, type Subcommand } from '../console/subcommand.js';

/** Exit codes in the style of `systemctl status`. */
const EXIT_CODES: Readonly<Record<FoundDaemon['state'], number>> = { running: 0, stopped: 3, unknown: 4 };

/** A daemon that runs. */
type RunningDaemon = Extract<FoundDaemon, { state: 'running' }>;

/** `status`: prints whether a daemon runs, and its state. */
export const statusSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'status'))
    .summary('say whether the daemon runs, and which one it is')
    .description(
      'Says whether a daemon runs at the address, with its version, uptime, configuration file, workspace, and the number of ' +
        'sessions and commands.',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(async ({ json, ...options }: DaemonOptions & { json?: boolean }) => {
      const { findStatus } = await import('../connect/find-status.js');
      const found = await findStatus(options, context);
      await context.stdout.write(
        json === true ? `${JSON.stringify(toJson(found), null, 2)}\n` : render(context, found),
      );
      context.exitWith(EXIT_CODES[found.state]);
    });

const toJson = (found: FoundDaemon): object =>
  found.state === 'running'
    ? { state: found.state, url: found.url, ...found.status }
    : { state: found.state, message: found.why };

function render({ stdout }: Context, found: FoundDaemon): string {
  if (found.state === 'running') {
    const head = `${paint(stdout, 'green', 'running')} at ${found.url}`;
    return `${[head, ...alignColumns(describe(found))].join('\n')}\n`;
  }
  const hint = found.state === 'unknown' && found.hint !== undefined ? `\n${found.hint}` : '';
  return `${paint(stdout, found.state === 'unknown' ? 'yellow' : 'red', found.state)}: ${found.why}${hint}\n`;
}

const describe = ({ status, url }: RunningDaemon): string[][] => [
  ['version', `shell-adapter ${status.adapter_version}, protocol ${status.protocol_version}`],
  ['process', `${status.pid}, user ${status.user}`],
  ['uptime', `${formatSpan(status.uptime_ms)}, since ${status.started_at}`],
  ['sessions', `${status.sessions} open, ${status.running_commands} commands running, ${status.clients} clients`],
  ['configuration', status.configuration_file ?? 'none: the defaults'],
  ['workspace', status.workspace_directory],
  ['state', status.state_directory],
  ['log', status.log_file],
  ['dashboard', describeDashboard(status.dashboard, url)],
];

/** Where the dashboard is, for `status` and `doctor`. */
export function describeDashboard(isServed: boolean, url: string): string {
  if (!isServed) return 'off (http.dashboard: false)';
  return `${url.startsWith('unix:') ? 'at the port of the daemon' : url}; \`shell-adapter dashboard\` opens it`;
}

const HELP = `${examples('shell-adapter status', 'shell-adapter status --json | jq -r .workspace_directory')}

Exit codes: 0 a daemon runs, 3 none does, 4 a daemon runs that does not accept this client; 1 failed, 2 wrong usage.`;
