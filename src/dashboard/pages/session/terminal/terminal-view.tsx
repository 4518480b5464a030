import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';

import { Button } from '../../../components/button.js';
import { Dialog } from '../../../components/dialog.js';
import { Reload } from '../../../components/reload.js';
import { countOf } from '../../../format/words.js';
import { useDashboard } from '../../../state/context.js';
import { useCode } from '../../../state/code/use-code.js';
import type { ViewedSession } from '../use-session.js';
import type { TerminalModel } from './terminal-model.js';
import { TerminalTools } from './terminal-tools.js';
import { TextView } from './text-view.js';
import { useTerminalSize } from './use-terminal-size.js';

import './terminal.css';

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
