import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';

import type { RequestInput, SignalName } from '../../../client/index.js';
import { Button, Toolbar, TwoStepButton } from '../../components/button.js';
import { Icon } from '../../components/icon.js';
import { formatDuration } from '../../format.js';
import { hrefOf } from '../../route.js';
import type { DaemonConnection } from '../../state/connection.js';
import { useDashboard } from '../../state/context.js';
import { useDraft } from '../../state/use-answer.js';
import type { TerminalModel } from './terminal/terminal-model.js';
import type { ViewedSession } from './use-session.js';

/** Most commands that are kept. */
const MAX_COMMANDS = 200;

/** The commands that were run from this page, and the one that is looked at: as the arrow keys of a shell. */
export class CommandHistory {
  #commands: string[] = [];
  /** Index of the one that is looked at; the length while none is. */
  #at = 0;
  #draft = '';

  /** Adds a command, unless it is the last one again. */
  add(command: string): void {
    if (this.#commands.at(-1) !== command) this.#commands = [...this.#commands, command].slice(-MAX_COMMANDS);
    this.#at = this.#commands.length;
    this.#draft = '';
  }

  /** The command before, or after; the text that was there at the end. `current` is the text of the field. */
  move(step: -1 | 1, current: string): string {
    if (this.#at === this.#commands.length) this.#draft = current;
    this.#at = Math.min(this.#commands.length, Math.max(0, this.#at + step));
    return this.#commands[this.#at] ?? this.#draft;
  }
}

/** What is said about a command that does not run. */
interface RunAnswer {
  readonly text: string;
  /** Whether it waits for a confirmation. */
  readonly isWaiting: boolean;
}

/**
 * Runs a command in the background: its output comes through the observed session, so that this page never holds it.
 * Returns undefined when it runs, or waits for those before it.
 */
async function runCommand(
  connection: Pick<DaemonConnection, 'request'>,
  request: Pick<RequestInput<'execute_command'>, 'session_id' | 'command' | 'tty'>,
): Promise<RunAnswer | undefined> {
  try {
    const result = await connection.request('execute_command', { ...request, background: true, stream: false });
    if (result.status === 'confirmation_required') {
      return { isWaiting: true, text: `It has to be confirmed first: ${(result.reasons ?? []).join('; ')}` };
    }
    if (result.status === 'denied') return { isWaiting: false, text: `It was denied: ${result.stderr}` };
    return undefined;
  } catch (error) {
    return { isWaiting: false, text: (error as Error).message };
  }
}

/** A line for commands: what is typed, and what has become of it. */
interface RunLine {
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
function useRun(sessionId: string): RunLine {
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

interface RunProps {
  readonly session: ViewedSession;
  readonly model: TerminalModel;
}

/** A line for commands. */
export function RunBar({ session, model }: RunProps): JSX.Element {
  const { text, isTty, answer, history, run, runTyped } = useRun(session.info.session_id);
  const whyNot = session.whyNot('execute_command', 'use');
  const onSubmit = (event?: Event) => {
    event?.preventDefault();
    if (whyNot === undefined) void runTyped();
  };
  const openShell = async () => {
    if (await run('bash -i', true)) model.setTyping(true);
  };
  return (
    <form class="panel run" onSubmit={onSubmit} aria-label="Run a command">
      <CommandField text={text} history={history} whyNot={session.isLost ? undefined : whyNot} />
      <label title="Give it a terminal: for programs that ask, or draw the screen">
        <input type="checkbox" checked={isTty.value} onChange={() => (isTty.value = !isTty.value)} />
        Terminal
      </label>
      <Button tone="primary" whyNot={whyNot} onPress={onSubmit}>
        <Icon name="play" />
        Run
      </Button>
      <Button whyNot={whyNot} title="Run bash -i, and type into it" onPress={() => void openShell()}>
        Open a shell
      </Button>
      {answer.value ? <Answer answer={answer.value} /> : null}
    </form>
  );
}

interface FieldProps {
  readonly text: { value: string };
  readonly history: CommandHistory;
  readonly whyNot: string | undefined;
}

function CommandField({ text, history, whyNot }: FieldProps): JSX.Element {
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key] as -1 | 1 | undefined;
    if (step === undefined) return;
    event.preventDefault();
    text.value = history.move(step, text.value);
  };
  return (
    <input
      type="text"
      aria-label="Command"
      placeholder={whyNot ?? 'Run a command…'}
      spellcheck={false}
      autoComplete="off"
      readOnly={whyNot !== undefined}
      value={text.value}
      onKeyDown={onKey}
      onInput={({ currentTarget }) => {
        text.value = currentTarget.value;
      }}
    />
  );
}

const Answer = ({ answer: { text, isWaiting } }: { readonly answer: RunAnswer }): JSX.Element => (
  <p class={`answer notice ${isWaiting ? 'warn' : 'bad'}`} role="alert">
    {text} {isWaiting ? <a href={hrefOf('confirmations')}>Confirmations</a> : null}
  </p>
);

/** What this page sends to stop a command: the names are those of its buttons. */
const STOP_SIGNALS = {
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
interface StopControls {
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

interface StopProps {
  readonly stop: StopControls;
}

/** What ends the running command, or the whole session: from the mildest to the hardest. */
export function StopActions({ stop }: StopProps): JSX.Element {
  const { whyNotSignal } = stop;
  return (
    <Toolbar label="Stop">
      <Button
        whyNot={whyNotSignal}
        onPress={() => stop.signal('SIGINT')}
        title="Interrupt the running command (SIGINT)"
      >
        Ctrl-C
      </Button>
      <Button
        whyNot={whyNotSignal}
        onPress={() => stop.signal('SIGTERM')}
        title="Ask the running command to end (SIGTERM)"
      >
        Terminate
      </Button>
      <KillButton stop={stop} />
      <ResetButton stop={stop} />
      <TwoStepButton whyNot={stop.whyNotClose} ask="Close the session?" onPress={stop.close}>
        Close
      </TwoStepButton>
    </Toolbar>
  );
}

/** Kills the programs that run, in two steps. */
const KillButton = ({ stop }: StopProps): JSX.Element => (
  <TwoStepButton
    whyNot={stop.whyNotSignal}
    ask="Kill it now?"
    title="Kill the running programs (SIGKILL)"
    onPress={() => stop.signal('SIGKILL')}
  >
    Kill
  </TwoStepButton>
);

/** Ends all in a session and gives it a new shell, in two steps. */
const ResetButton = ({ stop }: StopProps): JSX.Element => (
  <TwoStepButton
    whyNot={stop.whyNotReset}
    ask="End all in it, new shell?"
    title="End everything in the session, and begin with a new shell"
    onPress={stop.reset}
  >
    Reset
  </TwoStepButton>
);

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
