import type { SessionInfo } from '../../client/index.js';
import { alignColumns, formatSpan, onOneLine } from '../console/style.js';

/** Longest label, directory or command line in the table, in characters. */
const MAX_CELL = 40;

/** Renders the table of sessions, line by line. */
export function renderSessions(sessions: readonly SessionInfo[], now: number): string[] {
  if (sessions.length === 0) return ['No session is open.'];
  const rows = sessions.map((session) => {
    const { session_id: id, label, shell, state, working_directory: directory, running_command: running } = session;
    const age = formatSpan(now - Date.parse(session.created_at));
    const idle = running ? '-' : formatSpan(now - Date.parse(session.last_used_at));
    const cells = [label ?? '-', directory, running?.command ?? '-'].map((cell) => onOneLine(cell, MAX_CELL));
    const end = `${formatSpan(Date.parse(session.expires_at) - now)} (${session.expires_reason})`;
    return [id, shell, state, age, idle, end, ...cells];
  });
  return alignColumns([
    ['SESSION', 'SHELL', 'STATE', 'AGE', 'IDLE', 'ENDS IN', 'LABEL', 'DIRECTORY', 'RUNNING'],
    ...rows,
  ]);
}
