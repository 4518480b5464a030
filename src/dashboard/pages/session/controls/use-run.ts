import { type Signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';

import { useDashboard } from '../../../state/context.js';
import { useDraft } from '../../../state/use-draft.js';
import { CommandHistory } from './command-history.js';
import { type RunAnswer, runCommand } from './run-command.js';

/** A line for commands: what is typed, and what has become of it. */
export interface RunLine {
  readonly text: Signal<string>;
  /** Whether commands get a terminal. */
  readonly isTty: Signal<boolean>;
  readonly answer: Signal<RunAnswer | undefined>;
  readonly history: CommandHistory;
  /** Runs a command; resolves with whether it runs. */
  readonly run: (command: string, tty: boolean) => Promise<boolean>;
  /** Runs what is typed, unless that is nothing. */
  readonly runTyped: () => Promise<void>;
}

/** Runs commands in a session. */
export function useRun(sessionId: string): RunLine {
  const { connection } = useDashboard();
  const history = useMemo(() => new CommandHistory(), []);
  const text = useDraft(`run ${sessionId}`);
  const isTty = useSignal(false);
  const answer = useSignal<RunAnswer | undefined>(undefined);
  const run = async (command: string, tty: boolean) => {
    answer.value = await runCommand(connection, { session_id: sessionId, command, tty });
    return answer.value === undefined;
  };
  const runTyped = async () => {
    const command = text.peek();
    if (command.trim() === '') return;
    history.add(command);
    text.value = '';
    await run(command, isTty.peek());
    // What was refused can be corrected, unless the next command is being typed already.
    if (answer.peek()?.isWaiting === false && text.peek() === '') text.value = command;
  };
  return { text, isTty, answer, history, run, runTyped };
}
