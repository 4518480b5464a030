import type { JSX } from 'preact';

import { Button } from '../components/button.js';
import { Icon } from '../components/icon.js';
import { formatClock } from '../format/time.js';
import { useDashboard } from '../state/context.js';

/** Says that what is shown is not up to date, or what a restart of the daemon has ended. */
export function ConnectionBanner(): JSX.Element | null {
  const { connection, restarted } = useDashboard();
  const status = connection.status.value;
  if (status.kind === 'lost') {
    return (
      <p class="banner bad" role="alert">
        <strong>Connection lost.</strong>
        {` Trying to reconnect. What you see was true at ${formatClock(status.since)}.`}
      </p>
    );
  }
  if (restarted.value === '') return null;
  const dismiss = () => {
    restarted.value = '';
  };
  return (
    <p class="banner warn" role="status">
      {restarted.value}
      <span class="spacer" />
      <Button tone="quiet" label="Dismiss" onPress={dismiss}>
        <Icon name="close" />
      </Button>
    </p>
  );
}
