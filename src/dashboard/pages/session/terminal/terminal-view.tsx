import './terminal.css';

import { useSignal } from '@preact/signals';
import type { JSX, RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import type { SessionInfo } from '../../../../client/index.js';
import { Button, Reload } from '../../../components/button.js';
import { Dialog } from '../../../components/dialog.js';
import { countOf } from '../../../format.js';
import { useCode } from '../../../state/code.js';
import { useDashboard } from '../../../state/context.js';
import type { ViewedSession } from '../use-session.js';
import type { TerminalModel } from './terminal-model.js';
import { TerminalTools } from './terminal-tools.js';
import type { LogLine } from './screen-feed.js';

/** Least time between two computations of the lines, in milliseconds. */
const REFRESH_MS = 500;

const SOURCES: { readonly [S in LogLine['source']]: string } = {
  stdout: '',
  stderr: 'stderr: ',
  command: 'command: ',
  gap: 'gap: ',
};

/** The lines, and how much had been shown then. */
const viewOf = ({ shown, log }: TerminalModel): { readonly shown: number; readonly lines: readonly LogLine[] } => ({
  shown: shown.peek(),
  lines: log.lines(),
});

/** The output as a list of lines: for screen readers, and for copying. */
function TextView({ model }: { readonly model: TerminalModel }): JSX.Element {
  // With the count that they belong to: more may come before the effect is run.
  const view = useSignal(viewOf(model));
  useEffect(() => {
    const timer = setInterval(() => {
      if (view.peek().shown !== model.shown.peek()) view.value = viewOf(model);
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [model]);
  return (
    <div class="text-log" role="log" aria-label="Output as text" tabIndex={0}>
      <ol>
        {view.value.lines.map(({ id, source, text }) => (
          <li key={id} class={source}>
            {SOURCES[source] === '' ? null : <span class="source">{SOURCES[source]}</span>}
            {text}
          </li>
        ))}
      </ol>
    </div>
  );
}

/**
 * Gives the terminal the size of its text, and its own: that of the session while a command has the terminal, whose output is for that size;
 * else what there is room for.
 */
function useTerminalSize(
  model: TerminalModel,
  { cols, rows, running_command: running }: SessionInfo,
  element: RefObject<HTMLElement | null>,
): void {
  const screen = model.screen.value;
  const isTty = running?.tty === true;
  const px = model.fontSize.px.value;
  useEffect(() => {
    if (!screen || !element.current?.parentElement) return undefined;
    screen.fontSize = px;
    const apply = () => {
      const room = screen.room;
      if (isTty) screen.resize(cols, rows);
      else if (room) screen.resize(room.cols, room.rows);
    };
    const observer = new ResizeObserver(apply);
    observer.observe(element.current.parentElement);
    return () => {
      observer.disconnect();
    };
  }, [screen, cols, rows, isTty, px]);
}

interface TerminalViewProps {
  readonly session: ViewedSession;
  readonly model: TerminalModel;
}

/** The terminal of a session. */
export function TerminalView({ session, model }: TerminalViewProps): JSX.Element {
  const { theme } = useDashboard();
  const element = useRef<HTMLDivElement>(null);
  const isText = useSignal(false);
  const { code, isMissing } = useCode(() => import('./terminal-screen.js'));
  useEffect(() => {
    if (code && element.current) model.start(element.current, code.TerminalScreen).catch(model.onProblem);
  }, [model, code]);
  useTerminalSize(model, session.info, element);
  const { isDark } = theme;
  const screen = model.screen.value;
  useEffect(() => {
    if (screen) screen.isDark = isDark;
  }, [screen, isDark]);
  return (
    <section class="panel terminal-panel" aria-label="Terminal">
      <TerminalTools model={model} session={session} isText={isText} />
      <TerminalStatus model={model} />
      <div class="terminal-frame" hidden={isText.value} onPasteCapture={(event) => onPaste(event, model)}>
        {isMissing ? <Reload what="The terminal" /> : null}
        <div ref={element} class="terminal-host" />
      </div>
      {isText.value ? <TextView model={model} /> : null}
      {model.pasted.value === undefined ? null : <PasteQuestion model={model} text={model.pasted.value} />}
    </section>
  );
}

/** What waits, and what went wrong. */
function TerminalStatus({ model }: { readonly model: TerminalModel }): JSX.Element | null {
  const problem = model.problem.value;
  const prompt = model.prompt.value;
  if (problem !== '') {
    return (
      <p class="terminal-status bad" role="alert">
        {problem}
      </p>
    );
  }
  if (prompt === undefined) return null;
  const hint = model.isTyping.value ? '' : ' Press Type to answer.';
  return (
    <p class="terminal-status warn" role="status">
      {prompt.trim() === '' ? 'The command waits for input.' : `The command waits for input: ${prompt}`}
      {hint}
    </p>
  );
}

/** A paste of several lines runs several commands: it is asked for first. */
function onPaste(event: ClipboardEvent, model: TerminalModel): void {
  const text = event.clipboardData?.getData('text/plain') ?? '';
  if (!model.isTyping.peek() || !/[\r\n]/.test(text.trim())) return;
  event.preventDefault();
  event.stopPropagation();
  model.pasted.value = text;
}

function PasteQuestion({ model, text }: { readonly model: TerminalModel; readonly text: string }): JSX.Element {
  const answer = (isConfirmed: boolean) => {
    model.answerPaste(isConfirmed);
  };
  const lines = text.trim().split(/\r\n|\r|\n/).length;
  return (
    <Dialog
      title={`Paste ${countOf(lines, 'line')}?`}
      onClose={() => answer(false)}
      actions={
        <>
          <Button onPress={() => answer(false)}>Cancel</Button>
          <Button tone="primary" onPress={() => answer(true)}>
            Paste
          </Button>
        </>
      }
    >
      <p>A program may run each line at once.</p>
      <pre class="pasted">{text}</pre>
    </Dialog>
  );
}
