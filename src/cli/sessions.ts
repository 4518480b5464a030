import type { SessionInfo } from '../client.js';
import { type DaemonOptions, withDaemonOptions } from './daemon-address.js';
import { alignColumns, formatSpan, onOneLine } from './style.js';
import { createCommand, examples, type Subcommand } from './subcommand.js';
import { withDaemon } from './with-daemon.js';

/** Longest label, directory or command line in the table, in characters. */
const MAX_CELL = 40;

/** `sessions`: what is open. */
export const sessionsSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'sessions'))
    .summary('list the open sessions')
    .description('Lists the open sessions: what they run, where, and for how long they have been there.')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples('shell-adapter sessions', "shell-adapter sessions --json | jq -r '.sessions[].session_id'"),
    )
    .action(async ({ json, ...options }: DaemonOptions & { json?: boolean }) => {
      const sessions = await withDaemon(options, context, (client) => client.listSessions());
      const text = json ? JSON.stringify({ sessions }, null, 2) : renderTable(sessions, Date.now());
      await context.stdout.write(`${text}\n`);
    });

function renderTable(sessions: readonly SessionInfo[], now: number): string {
  if (sessions.length === 0) return 'No session is open.';
  const rows = sessions.map((session) => {
    const { session_id: id, label, shell, state, working_directory: directory, running_command: running } = session;
    const age = formatSpan(now - Date.parse(session.created_at));
    const idle = running ? '-' : formatSpan(now - Date.parse(session.last_used_at));
    const cells = [label ?? '-', directory, running?.command ?? '-'].map((cell) => onOneLine(cell, MAX_CELL));
    return [id, shell, state, age, idle, ...cells];
  });
  return alignColumns([['SESSION', 'SHELL', 'STATE', 'AGE', 'IDLE', 'LABEL', 'DIRECTORY', 'RUNNING'], ...rows]).join(
    '\n',
  );
}
