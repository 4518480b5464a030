import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

import { Button } from '../../components/button.js';
import { useDashboard } from '../../state/context.js';
import type { Card } from './cards.js';
import { Outcome } from './outcome.js';
import type { DecisionState } from './use-decision.js';
import { type DecisionFacts, isOwn, whyNotApprove, whyNotReject } from './why-not.js';

/** The decision that a key has begun on one card. */
export interface Intent {
  readonly id: string;
  readonly decision: 'approve' | 'reject';
}

interface DecisionFormProps {
  readonly card: Card;
  readonly state: DecisionState;
  readonly isSettled: boolean;
  readonly intent: Signal<Intent | undefined>;
  readonly onDismiss: () => void;
}

/** Reason and buttons of a card; how it has ended takes the place of the buttons. */
export function DecisionForm({ card, state, isSettled, intent, onDismiss }: DecisionFormProps): JSX.Element {
  const { connection, access } = useDashboard();
  const form = useRef<HTMLFormElement>(null);
  const facts: DecisionFacts = {
    info: card.info,
    access: access.info.value,
    isConnected: connection.status.value.kind === 'connected',
    isSettled,
    isSending: state.sending !== undefined,
    reason: state.reason.value,
  };
  const begun = intent.value?.id === card.info.confirmation_id ? intent.value : undefined;
  // Before the next key: it belongs into the field.
  useLayoutEffect(() => {
    if (begun) focusFor(begun, form.current, facts);
  }, [begun]);
  const submit = (event: Event) => {
    event.preventDefault();
    if (!begun || card.end) return;
    const whyNot = begun.decision === 'approve' ? whyNotApprove(facts) : whyNotReject(facts);
    if (whyNot === undefined) state.decide(begun.decision);
  };
  return (
    <form ref={form} class="decision" onSubmit={submit}>
      <ReasonField card={card} reason={state.reason} begun={begun} />
      {card.end ? (
        <Outcome end={card.end} state={state} onDismiss={onDismiss} />
      ) : (
        <Buttons facts={facts} state={state} />
      )}
      {state.problem === undefined ? null : (
        <p class="decision-problem" role="alert">
          {state.problem}
        </p>
      )}
    </form>
  );
}

/** Focuses what a key has begun: the reason, or the button if no reason is needed. */
function focusFor({ decision }: Intent, form: HTMLFormElement | null, { info, reason }: DecisionFacts): void {
  const needsReason = decision === 'reject' || (info.requires === 'self' && reason === '');
  const target = form?.querySelector<HTMLElement>(needsReason ? 'input' : '.button.primary');
  target?.focus();
  target?.scrollIntoView({ block: 'nearest' });
}

interface ReasonFieldProps {
  readonly card: Card;
  readonly reason: Signal<string>;
  readonly begun: Intent | undefined;
}

/** What `Enter` does depends on the key that led here, and is said beside the field. */
function ReasonField({ card: { info, end }, reason, begun }: ReasonFieldProps): JSX.Element {
  const hint = useId();
  const needs = info.requires === 'self' ? 'needed to approve' : 'optional';
  const enter = begun === undefined || end ? '' : ` · Enter: ${begun.decision}`;
  return (
    <label class="field">
      <span id={hint}>{`Reason (${needs})${enter}`}</span>
      <input
        type="text"
        autoComplete="off"
        maxLength={1000}
        readOnly={end !== undefined}
        value={reason.value}
        onInput={({ currentTarget }) => {
          reason.value = currentTarget.value;
        }}
        onKeyDown={({ key, currentTarget }) => {
          if (key === 'Escape') currentTarget.closest<HTMLElement>('[data-card]')?.focus();
        }}
      />
    </label>
  );
}

interface ButtonsProps {
  readonly facts: DecisionFacts;
  readonly state: DecisionState;
}

function Buttons({ facts, state }: ButtonsProps): JSX.Element {
  const row = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = row.current;
    return () => {
      // The focus stays on the card when its buttons go.
      if (element?.contains(document.activeElement)) element.closest<HTMLElement>('[data-card]')?.focus();
    };
  }, []);
  const isWithdrawal = isOwn(facts) && facts.info.requires !== 'self';
  const whyNot = whyNotApprove(facts);
  return (
    <div ref={row} class="decision-buttons">
      <Button tone="primary" whyNot={whyNot} onPress={() => state.decide('approve')}>
        {state.sending === 'approve' ? 'Approving…' : 'Approve'} <kbd>a</kbd>
      </Button>
      <Button tone="danger" whyNot={whyNotReject(facts)} onPress={() => state.decide('reject')}>
        {isWithdrawal ? 'Withdraw' : 'Reject'} <kbd>r</kbd>
      </Button>
      {facts.info.may_decide ? null : <span class="muted">{whyNot}</span>}
    </div>
  );
}
