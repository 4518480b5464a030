import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useId, useLayoutEffect } from 'preact/hooks';

import type { ConfirmationInfo } from '../../../client/index.js';
import { Badge } from '../../components/badge.js';
import { Button } from '../../components/button.js';
import { CommandText, ProgramText, SafeText } from '../../components/command-text.js';
import { WorkspaceDiff } from '../../components/diff-view.js';
import { JudgedCommands } from '../../components/judged-commands.js';
import { type Fact, Facts } from '../../components/panel.js';
import { Ago } from '../../components/time.js';
import { formatDuration } from '../../format.js';
import { hrefOf } from '../../route.js';
import { useDashboard } from '../../state/context.js';
import type { Card, CardStore } from './cards.js';
import { DecisionForm, type Intent, useDecision } from './decision-form.js';

const DECIDERS: { readonly [R in ConfirmationInfo['requires']]: string } = {
  self: 'the client itself, with a reason',
  llm: 'a model',
  operator: 'an operator',
};

/** Facts that a decision needs: where it runs, with what, and how the policy judges each part. */
const CardFacts = ({ info }: { readonly info: ConfirmationInfo }): JSX.Element => (
  <>
    <Facts facts={[...placeOf(info), ...inputsOf(info)]} />
    <Reasons info={info} />
  </>
);

const placeOf = (info: ConfirmationInfo): readonly Fact[] => [
  [
    'Directory',
    <code>
      <SafeText text={info.working_directory} />
    </code>,
  ],
  [
    'Session',
    info.session_id === null ? (
      'none: a command of its own'
    ) : (
      <a href={hrefOf('sessions', [info.session_id])}>
        <SafeText text={info.session_label ?? info.session_id} />
      </a>
    ),
  ],
  // Of a cluster.
  ['Node', info.node],
  ['Decided by', DECIDERS[info.requires]],
];

const inputsOf = ({ env, stdin }: ConfirmationInfo): readonly Fact[] => [
  [
    'Variables',
    env && (
      <ul>
        {Object.entries(env).map(([name, value]) => (
          <li key={name}>
            <code>
              <SafeText text={`${name}=${value}`} />
            </code>
          </li>
        ))}
      </ul>
    ),
  ],
  [
    'Standard input',
    stdin === undefined || stdin === '' ? undefined : (
      <pre class="command-text">
        <SafeText text={stdin} />
      </pre>
    ),
  ],
];

/** The parts of a command; a single one repeats the command itself, and has its reasons alone. */
function Reasons({ info: { commands, reasons, command } }: { readonly info: ConfirmationInfo }): JSX.Element {
  const [first, ...others] = commands;
  const isWhole = others.length === 0 && (first === undefined || first.command.trim() === command.trim());
  return (
    <section aria-label="Verdict of the policy">
      <h3 class="confirmation-why">Why it has to be confirmed</h3>
      {isWhole ? (
        <ul class="judged-reasons">
          {reasons.map((reason) => (
            <li key={reason}>
              <SafeText text={reason} />
            </li>
          ))}
        </ul>
      ) : (
        <JudgedCommands commands={commands} />
      )}
    </section>
  );
}

/** Time from which on it is short, in milliseconds. */
const SHORT_MS = 30_000;

/** What is left of the time to decide. */
interface Countdown {
  readonly text: string;
  readonly isShort: boolean;
  readonly isOver: boolean;
}

/**
 * The time that is left. `now` is the time of the daemon: that of the browser may differ.
 * @param expiresAt ISO 8601
 * @param now milliseconds since the epoch
 */
export function countdown(expiresAt: string, now: number): Countdown {
  const left = Date.parse(expiresAt) - now;
  if (left <= 0) return { text: 'time is up', isShort: true, isOver: true };
  const seconds = Math.ceil(left / 1000);
  const text = seconds < 60 ? `${seconds} s left` : `${formatDuration(seconds * 1000)} left`;
  return { text, isShort: left <= SHORT_MS, isOver: false };
}

/** How long a button has to be in its place before it works, in milliseconds: a click may have been meant for another. */
const SETTLE_MS = 700;

/** Whether a card has been in its place for long enough. `place` changes when it may have moved. */
function useSettled(place: string): boolean {
  const settled = useSignal<string | undefined>(undefined);
  useLayoutEffect(() => {
    const timer = setTimeout(() => {
      settled.value = place;
    }, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [place]);
  return settled.value === place;
}

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
