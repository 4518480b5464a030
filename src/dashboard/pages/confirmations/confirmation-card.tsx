import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useId } from 'preact/hooks';

import type { ConfirmationInfo } from '../../../client/index.js';
import { Badge } from '../../components/badge.js';
import { Button } from '../../components/button.js';
import { CommandText, ProgramText, SafeText } from '../../components/command/command-text.js';
import { WorkspaceDiff } from '../../components/diff/workspace-diff.js';
import { Ago } from '../../components/time.js';
import { useDashboard } from '../../state/context.js';
import { CardFacts } from './card-facts.js';
import type { CardStore } from './card-store.js';
import type { Card } from './cards.js';
import { countdown } from './countdown.js';
import { DecisionForm, type Intent } from './decision-form.js';
import { useDecision } from './use-decision.js';
import { useSettled } from './use-settled.js';

interface ConfirmationCardProps {
  readonly card: Card;
  readonly store: CardStore;
  readonly intent: Signal<Intent | undefined>;
}

/** A confirmation: what is asked for, why, and the decision. */
export function ConfirmationCard({ card, store, intent }: ConfirmationCardProps): JSX.Element {
  const { connection } = useDashboard();
  const { info, end } = card;
  const id = useId();
  const state = useDecision(info);
  const isSettled = useSettled(`${store.layout.value} ${connection.status.value.kind}`);
  useEffect(() => {
    if (end || state.problem !== undefined || state.result !== undefined) store.noteMove();
  }, [end, state.problem, state.result]);
  return (
    <article
      class={`panel confirmation${end ? ' ended' : ''}`}
      aria-labelledby={id}
      tabIndex={-1}
      data-row
      data-card={info.confirmation_id}
    >
      <CardHead card={card} id={id} />
      <div class="panel-body">
        <WhatIsAsked info={info} />
        <CardFacts info={info} />
        <Changes info={info} />
      </div>
      <DecisionForm
        card={card}
        state={state}
        isSettled={isSettled}
        intent={intent}
        onDismiss={() => store.dismiss(info.confirmation_id)}
      />
    </article>
  );
}

const CardHead = ({ card: { info, end }, id }: { readonly card: Card; readonly id: string }): JSX.Element => (
  <header class="panel-head">
    <h2 id={id}>
      <Badge tone="warn">{info.class}</Badge>
      <SafeText text={`${info.kind} of ${info.requested_by}`} />
    </h2>
    <span class="muted">
      <Ago at={info.requested_at} />
    </span>
    {end ? null : <TimeLeft expiresAt={info.expires_at} />}
  </header>
);

function WhatIsAsked({ info: { kind, command, args } }: { readonly info: ConfirmationInfo }): JSX.Element {
  if (args) return <ProgramText program={command} args={args} />;
  if (kind === 'command') return <CommandText command={command} />;
  return (
    <p>
      <SafeText text={command} />
    </p>
  );
}

function TimeLeft({ expiresAt }: { readonly expiresAt: string }): JSX.Element {
  const { clock, live } = useDashboard();
  const { text, isShort } = countdown(expiresAt, clock.now.value + live.clockOffset.value);
  return <Badge tone={isShort ? 'bad' : 'neutral'}>{text}</Badge>;
}

/** The difference of the workspace: for a restore, to the checkpoint that it would bring back. */
function Changes({ info: { kind, args = [], diff_base: base } }: { readonly info: ConfirmationInfo }): JSX.Element {
  const isShown = useSignal(false);
  const [id, ...paths] = kind === 'restore' ? args : [];
  const title = kind === 'restore' ? 'What it would undo' : 'Changes of the workspace';
  return (
    <div>
      <Button
        isPressed={isShown.value}
        onPress={() => {
          isShown.value = !isShown.value;
        }}
      >
        {title}
      </Button>
      {isShown.value ? (
        <div class="confirmation-diff">
          <WorkspaceDiff checkpointId={id ?? base ?? undefined} paths={paths.length > 0 ? paths : undefined} />
        </div>
      ) : null}
    </div>
  );
}
