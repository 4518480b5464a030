import type { SessionInfo } from '../../client/index.js';
import { type Context, untilStopped } from '../console/context.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { renderSessions } from './session-table.js';
import { onOneLine } from '../console/style.js';
import { Screen } from '../console/screen.js';
import { followState } from './live-state.js';
import { withDaemon } from '../connect/with-daemon.js';

/**
 * Shows the sessions until a signal arrives or the reader closes the pipe: a table that is redrawn on a terminal, else
 * a line for each change.
 * @throws CommandLineError, ConfigurationError, ClientError
 */
export async function watchSessions(context: Context, options: DaemonOptions, asJson: boolean): Promise<void> {
  const show = displayFor(context, asJson);
  // Ages on a screen go on each second, whether a session has changed or not.
  const topics: Topics = asJson || !context.stdout.isTerminal ? ['sessions'] : ['sessions', 'host'];
  await untilStopped(context, (signal) =>
    withDaemon(options, context, (client) => followState(client, topics, ({ sessions }) => show(sessions), signal)),
  );
}

type Topics = Parameters<typeof followState>[1];

type Display = (sessions: readonly SessionInfo[]) => Promise<void>;

function displayFor(context: Context, asJson: boolean): Display {
  if (asJson) return showChanges(context, (change, session) => JSON.stringify({ change, ...session }));
  if (context.stdout.isTerminal) return redraw(context);
  return showChanges(context, (change, session) => {
    const running = session.running_command ? onOneLine(session.running_command.command, MAX_COMMAND) : '-';
    return `${new Date().toISOString()} ${change} ${session.session_id} ${session.state} ${running}`;
  });
}

/** Longest command on a line, in characters. */
const MAX_COMMAND = 200;

function redraw(context: Context): Display {
  const screen = new Screen(context);
  return (sessions) => screen.draw(renderSessions(sessions, Date.now()));
}

type Change = 'open' | 'changed' | 'closed';

/** Prints a line for each session at the start, and for each one that opens, changes its activity, or closes. */
function showChanges({ stdout }: Context, render: (change: Change, session: SessionInfo) => string): Display {
  let known = new Map<string, SessionInfo>();
  const activityOf = ({ state, running_command: running }: SessionInfo) => `${state} ${running?.command_id ?? ''}`;
  return async (sessions) => {
    const current = new Map(sessions.map((session) => [session.session_id, session]));
    for (const [id, session] of current) {
      const before = known.get(id);
      if (before && activityOf(before) === activityOf(session)) continue;
      await stdout.write(`${render(before ? 'changed' : 'open', session)}\n`);
    }
    for (const [id, session] of known) {
      if (!current.has(id)) await stdout.write(`${render('closed', session)}\n`);
    }
    known = current;
  };
}
