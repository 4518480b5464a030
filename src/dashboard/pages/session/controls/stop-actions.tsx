import type { JSX } from 'preact';

import { Button, TwoStepButton } from '../../../components/button.js';
import { Toolbar } from '../../../components/toolbar.js';
import type { StopControls } from './use-stop.js';

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
export const KillButton = ({ stop }: StopProps): JSX.Element => (
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
export const ResetButton = ({ stop }: StopProps): JSX.Element => (
  <TwoStepButton
    whyNot={stop.whyNotReset}
    ask="End all in it, new shell?"
    title="End everything in the session, and begin with a new shell"
    onPress={stop.reset}
  >
    Reset
  </TwoStepButton>
);
