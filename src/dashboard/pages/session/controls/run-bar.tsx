import type { JSX } from 'preact';

import { Button } from '../../../components/button.js';
import { Icon } from '../../../components/icon.js';
import { hrefOf } from '../../../router/route.js';
import type { TerminalModel } from '../terminal/terminal-model.js';
import type { ViewedSession } from '../use-session.js';
import type { CommandHistory } from './command-history.js';
import type { RunAnswer } from './run-command.js';
import { useRun } from './use-run.js';

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
