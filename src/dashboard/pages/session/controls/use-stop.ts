import { type Signal, useSignal } from '@preact/signals';

import type { SignalName } from '../../../../client/index.js';
import { useDashboard } from '../../../state/context.js';
import type { TerminalModel } from '../terminal/terminal-model.js';
import type { ViewedSession } from '../use-session.js';

/** What this page sends to stop a command: the names are those of its buttons. */
export const STOP_SIGNALS = {
  SIGINT: 'Ctrl-C',
  SIGTERM: 'Terminate',
  SIGKILL: 'Kill',
} as const satisfies { readonly [N in SignalName]?: string };

/** A signal that stops a command. */
type StopSignal = keyof typeof STOP_SIGNALS;

/** A signal that was sent to a command. */
interface SentStop {
  readonly commandId: string;
  readonly signal: StopSignal;
  /** By the clock of this browser, in milliseconds. */
  readonly at: number;
}

/** How the running command, or the whole session, is stopped. */
export interface StopControls {
  /** The last signal; undefined before the first. */
  readonly sent: Signal<SentStop | undefined>;
  readonly whyNotSignal: string | undefined;
  readonly whyNotReset: string | undefined;
  readonly whyNotClose: string | undefined;
  readonly signal: (signal: StopSignal) => void;
  readonly reset: () => void;
  readonly close: () => void;
}

/** Stops what runs in a session. What goes wrong is shown by its terminal. */
export function useStop(session: ViewedSession, model: TerminalModel): StopControls {
  const { connection } = useDashboard();
  const sent = useSignal<SentStop | undefined>(undefined);
  const { session_id: id, running_command: running } = session.info;
  const attempt = (work: Promise<unknown>) => void work.catch(model.onProblem);
  return {
    sent,
    whyNotSignal:
      session.whyNot('signal_command', 'stop') ?? (running === null ? 'Nothing runs in this session.' : undefined),
    whyNotReset: session.whyNot('reset_session', 'stop'),
    whyNotClose: session.whyNot('close_session', 'stop'),
    signal: (signal) => {
      if (running) sent.value = { commandId: running.command_id, signal, at: Date.now() };
      attempt(connection.request('signal_command', { session_id: id, signal }));
    },
    reset: () => {
      sent.value = undefined;
      attempt(connection.request('reset_session', { session_id: id }));
    },
    close: () => attempt(connection.request('close_session', { session_id: id })),
  };
}
