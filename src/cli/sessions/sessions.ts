import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { renderSessions } from './session-table.js';
import { createCommand, examples, type Subcommand } from '../options/subcommand.js';
import { withDaemon } from '../connect/with-daemon.js';

interface SessionsOptions extends DaemonOptions {
  readonly json?: boolean;
  readonly watch?: boolean;
}

/** `sessions`: lists the open sessions. */
export const sessionsSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'sessions'))
    .summary('list the open sessions')
    .description(
      'Lists the open sessions: what they run, where, for how long they have been there, and when and why ' +
        'they will end: unused (idle), without a client (disconnected), or too old (lifetime).',
    )
    .option('-w, --watch', 'follow them until Ctrl-C: a table on a terminal, otherwise a line for each change')
    .option('--json', 'print JSON; with --watch a line for each change')
    .addHelpText(
      'after',
      examples(
        'shell-adapter sessions',
        'shell-adapter sessions --watch',
        "shell-adapter sessions --json | jq -r '.sessions[].session_id'",
      ),
    )
    .action(async ({ json = false, watch = false, ...options }: SessionsOptions) => {
      if (watch) {
        const { watchSessions } = await import('./watch-sessions.js');
        await watchSessions(context, options, json);
        return;
      }
      const sessions = await withDaemon(options, context, (client) => client.listSessions());
      const text = json ? JSON.stringify({ sessions }, null, 2) : renderSessions(sessions, Date.now()).join('\n');
      await context.stdout.write(`${text}\n`);
    });
