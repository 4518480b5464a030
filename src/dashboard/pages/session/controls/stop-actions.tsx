import type { JSX } from 'preact';

import type { SignalName } from '../../../../client/index.js';
import { Button, TwoStepButton } from '../../../components/button.js';
import { Toolbar } from '../../../components/toolbar.js';
import { useDashboard } from '../../../state/context.js';
import type { TerminalModel } from '../terminal/terminal-model.js';
import type { ViewedSession } from '../use-session.js';

interface StopProps {
  readonly session: ViewedSession;
  readonly model: TerminalModel;
}

/** What ends the running command, or the whole session: from the mildest to the hardest. */
export function StopActions({ session, model }: StopProps): JSX.Element {
  const { connection } = useDashboard();
  const { session_id: id, running_command: running } = session.info;
  const attempt = (work: Promise<unknown>) => work.catch(model.onProblem);
  const signal = (name: SignalName) => () =>
    void attempt(connection.request('signal_command', { session_id: id, signal: name }));
  const whyNotSignal =
    session.whyNot('signal_command', 'stop') ?? (running === null ? 'Nothing runs in this session.' : undefined);
  return (
    <Toolbar label="Stop">
      <Button whyNot={whyNotSignal} onPress={signal('SIGINT')} title="Interrupt the running command (SIGINT)">
        Ctrl-C
      </Button>
      <Button whyNot={whyNotSignal} onPress={signal('SIGTERM')} title="Ask the running command to end (SIGTERM)">
        Terminate
      </Button>
      <TwoStepButton whyNot={whyNotSignal} ask="Kill it now?" onPress={signal('SIGKILL')}>
        Kill
      </TwoStepButton>
      <TwoStepButton
        whyNot={session.whyNot('reset_session', 'stop')}
        ask="End all in it, new shell?"
        onPress={() => void attempt(connection.request('reset_session', { session_id: id }))}
      >
        Reset
      </TwoStepButton>
      <TwoStepButton
        whyNot={session.whyNot('close_session', 'stop')}
        ask="Close the session?"
        onPress={() => void attempt(connection.request('close_session', { session_id: id }))}
      >
        Close
      </TwoStepButton>
    </Toolbar>
  );
}
