import type { Signal } from '@preact/signals';
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';

import { Button } from '../../../components/button.js';
import { Icon } from '../../../components/icon.js';
import { useDashboard } from '../../../state/context.js';
import type { ViewedSession } from '../use-session.js';
import type { TerminalModel } from './terminal-model.js';

interface ToolsProps {
  readonly model: TerminalModel;
  readonly session: ViewedSession;
  readonly isText: Signal<boolean>;
}

/** The controls of the terminal. */
export function TerminalTools({ model, session, isText }: ToolsProps): JSX.Element {
  return (
    <div class="toolbar terminal-tools" role="group" aria-label="Controls of the terminal">
      <TypeButton model={model} session={session} />
      <FitButton model={model} session={session} />
      <Button
        isPressed={isText.value}
        title="The output as a list of lines: for screen readers, and for copying"
        onPress={() => {
          isText.value = !isText.value;
        }}
      >
        As text
      </Button>
      <ReaderButton model={model} />
      <FontSizeButtons model={model} />
      <Button
        title="Save what was shown here as an asciicast file: for asciinema, or shell-adapter replay"
        onPress={() => {
          model.save(session.info.label ?? session.info.session_id);
        }}
      >
        <Icon name="download" />
        Save
      </Button>
      <span class="spacer" />
      {model.isFollowing.value ? null : (
        <Button tone="primary" title="Show the newest line (End)" onPress={() => model.screen.peek()?.follow()}>
          Follow
        </Button>
      )}
      <TerminalSearch model={model} />
    </div>
  );
}

type Props = Pick<ToolsProps, 'model' | 'session'>;

function TypeButton({ model, session }: Props): JSX.Element {
  const isTyping = model.isTyping.value;
  const refused = session.whyNot('send_input', 'use');
  const idle =
    session.info.running_command === null
      ? 'Nothing runs that could read it: start a command or a shell first.'
      : undefined;
  return (
    <Button
      isPressed={isTyping}
      tone={isTyping ? 'primary' : 'plain'}
      whyNot={isTyping ? undefined : (refused ?? idle)}
      title={isTyping ? 'Keys go to the command. Ctrl+Shift+Esc leaves the terminal' : 'Send keys to the command'}
      onPress={() => {
        model.setTyping(!isTyping);
      }}
    >
      <Icon name="keyboard" />
      {isTyping ? 'Typing' : 'Type'}
    </Button>
  );
}

function FitButton({ model, session }: Props): JSX.Element {
  const { connection } = useDashboard();
  const { info } = session;
  const fit = async () => {
    const room = model.screen.peek()?.room;
    if (room) await connection.request('resize_terminal', { session_id: info.session_id, ...room });
  };
  return (
    <Button
      title="Set the size of the session’s terminal to what is seen here"
      whyNot={session.whyNot('resize_terminal', 'use')}
      onPress={() => {
        fit().catch(model.onProblem);
      }}
    >
      {`Fit ${info.cols}×${info.rows}`}
    </Button>
  );
}

function FontSizeButtons({ model: { fontSize } }: Pick<ToolsProps, 'model'>): JSX.Element {
  const px = fontSize.px.value;
  return (
    <>
      <Button title="Smaller text (Ctrl and −)" onPress={() => fontSize.change(-1)}>
        A−<span class="hidden">{` smaller text, now ${px} px`}</span>
      </Button>
      <Button title="Larger text (Ctrl and +)" onPress={() => fontSize.change(1)}>
        A+<span class="hidden">{` larger text, now ${px} px`}</span>
      </Button>
    </>
  );
}

function ReaderButton({ model }: Pick<ToolsProps, 'model'>): JSX.Element {
  const isOn = useSignal(false);
  return (
    <Button
      isPressed={isOn.value}
      title="Let a screen reader read the terminal itself. It may read lines twice: “As text” is better"
      onPress={() => {
        isOn.value = !isOn.value;
        const screen = model.screen.peek();
        if (screen) screen.isReaderMode = isOn.value;
      }}
    >
      Reader
    </Button>
  );
}

function TerminalSearch({ model }: Pick<ToolsProps, 'model'>): JSX.Element {
  const isMissing = useSignal(false);
  const onKey = ({ key, shiftKey, currentTarget }: KeyboardEvent & { readonly currentTarget: HTMLInputElement }) => {
    if (key === 'Escape') currentTarget.blur();
    if (key !== 'Enter') return;
    isMissing.value = model.screen.peek()?.search(currentTarget.value, !shiftKey) === false;
  };
  return (
    <label class="search">
      <span class="hidden">Search in the terminal</span>
      <input type="search" placeholder="Search…" onKeyDown={onKey} aria-invalid={isMissing.value} />
      {isMissing.value ? <span role="status">Not found</span> : null}
    </label>
  );
}
