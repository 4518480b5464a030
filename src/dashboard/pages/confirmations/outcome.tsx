import type { JSX } from 'preact';

import { Badge } from '../../components/badge.js';
import { Button } from '../../components/button.js';
import { SafeText } from '../../components/command/command-text.js';
import { useDashboard } from '../../state/context.js';
import type { CardEnd } from './cards.js';
import { outcomeText } from './outcome-text.js';
import type { DecisionState } from './use-decision.js';

interface OutcomeProps {
  readonly end: CardEnd;
  readonly state: DecisionState;
  readonly onDismiss: () => void;
}

/** How a confirmation has ended. */
export function Outcome({ end, state, onDismiss }: OutcomeProps): JSX.Element {
  const { access } = useDashboard();
  const { badge, tone, text, decider, reason } = outcomeText(end, access.info.value?.name ?? '');
  const progress = state.sending === 'approve' ? 'It runs…' : (state.result ?? '');
  return (
    <div class="decision-buttons" role="status">
      <Badge tone={tone}>{badge}</Badge>
      <span class="decision-outcome">
        <SafeText text={decider === '' ? '' : `${decider}. `} />
        {`${text} ${progress}`}
        <SafeText text={reason === '' ? '' : ` Reason: ${reason}`} />
      </span>
      <Button onPress={onDismiss}>Dismiss</Button>
    </div>
  );
}
