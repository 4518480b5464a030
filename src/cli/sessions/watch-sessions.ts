import { setTimeout as sleep } from 'node:timers/promises';

import type { AdapterClient, SessionInfo } from '../../client/index.js';
import type { Context } from '../console/context.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { renderSessions } from './session-table.js';
import { onOneLine } from '../console/style.js';
import { withDaemon } from '../connect/with-daemon.js';

/** Interval at which the sessions are listed, in milliseconds: no event reports a session that another client opens. */
const REFRESH_MS = 1000;

/** Moves the cursor to the top left corner and erases the rest: unlike clearing the screen, this does not flicker. */
const HOME = '\x1b[H';
const ERASE_LINE_END = '\x1b[K';
const ERASE_BELOW = '\x1b[J';

/**
 * Shows the sessions until a signal arrives or the reader closes the pipe: a table that is redrawn on a terminal, else
 * a line for each change.
 * @throws CommandLineError, ConfigurationError, ClientError
 */
export async function watchSessions(context: Context, options: DaemonOptions, asJson: boolean): Promise<void> {
  const stop = new AbortController();
  const signals = context.onSignal(['SIGINT', 'SIGTERM', 'SIGHUP'], () => {
    stop.abort();
  });
  void context.stdout.broken.then(() => {
    stop.abort();
  });
  try {
    await withDaemon(options, context, (client) => refresh(context, client, displayFor(context, asJson), stop.signal));
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    signals[Symbol.dispose]();
  }
}

type Display = (sessions: readonly SessionInfo[]) => Promise<void>;

async function refresh({ stdout }: Context, client: AdapterClient, show: Display, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !stdout.isBroken) {
    const { sessions } = await client.request('list_sessions', {}, { signal });
    await show(sessions);
    await sleep(REFRESH_MS, undefined, { signal });
  }
}

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

function redraw({ stdout }: Context): Display {
  let isFirst = true;
  return async (sessions) => {
    const { columns, rows } = stdout.size ?? { columns: 80, rows: 24 };
    const lines = [`${new Date().toLocaleTimeString()}  (Ctrl-C ends)`, '', ...renderSessions(sessions, Date.now())];
    const shown = lines.slice(0, rows - 1).map((line) => `${onOneLine(line, columns)}${ERASE_LINE_END}\n`);
    await stdout.write(`${isFirst ? '\x1b[2J' : ''}${HOME}${shown.join('')}${ERASE_BELOW}`);
    isFirst = false;
  };
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
