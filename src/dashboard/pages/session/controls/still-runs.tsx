import type { JSX } from 'preact';

import { formatDuration } from '../../../format/time.js';
import { useDashboard } from '../../../state/context.js';
import type { ViewedSession } from '../use-session.js';
import { KillButton, ResetButton } from './stop-actions.js';
import { STOP_SIGNALS, type StopControls } from './use-stop.js';

/** Time in which commands end that do not ignore a signal, in milliseconds: a kill takes the grace period of the daemon at most. */
const USUAL_END_MS = 3000;

interface StillRunsProps {
  readonly session: ViewedSession;
  readonly stop: StopControls;
}

/** Says of a command that a signal has not stopped what will, and offers it. */
export function StillRuns({ session, stop }: StillRunsProps): JSX.Element | null {
  const { clock } = useDashboard();
  const sent = stop.sent.value;
  const running = session.info.running_command;
  if (!sent || session.ended !== undefined || running?.command_id !== sent.commandId) return null;
  const since = clock.now.value - sent.at;
  if (since < USUAL_END_MS) return null;
  const isKilled = sent.signal === 'SIGKILL';
  return (
    <div class="notice warn still-runs">
      <p role="status">
        <strong>{`It still runs after ${STOP_SIGNALS[sent.signal]}.`}</strong>{' '}
        {isKilled
          ? 'The program was killed, and the shell goes on with the next one. Reset ends the shell too: its variables and directory are lost, the output stays.'
          : 'It may ignore that signal. Kill ends a program that does; Reset ends everything in the session.'}
      </p>
      <span class="muted">{formatDuration(since)}</span>
      {isKilled ? null : <KillButton stop={stop} />}
      <ResetButton stop={stop} />
    </div>
  );
}
