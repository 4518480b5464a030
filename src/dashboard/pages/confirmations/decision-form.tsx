import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

import { ClientError, type CommandResult, type ConfirmationInfo } from '../../../client/index.js';
import { Badge } from '../../components/badge.js';
import { Button } from '../../components/button.js';
import { SafeText } from '../../components/command-text.js';
import type { Tone } from '../../components/tone.js';
import { useDashboard } from '../../state/context.js';
import { messageOf, useDraft } from '../../state/use-answer.js';
import type { AccessInfo } from '../../state/wire.js';
import type { Card, CardEnd } from './cards.js';

/** The end of a confirmation, for people. */
interface OutcomeText {
  readonly badge: string;
  readonly tone: Tone;
  readonly text: string;
  /** Who decided, and the reason; empty for none. They come from outside. */
  readonly decider: string;
  readonly reason: string;
}

const ENDS: { readonly [O in CardEnd['outcome']]: readonly [badge: string, tone: Tone, text: string] } = {
  approved: ['Approved', 'good', ''],
  rejected: ['Rejected', 'bad', 'Nothing was run.'],
  expired: ['Expired', 'warn', 'It was not decided in time. Nothing was run; its client may ask again.'],
  withdrawn: ['Withdrawn', 'neutral', 'Its client no longer wants it, or has gone. Nothing was run.'],
  void: ['Void', 'warn', 'It no longer matches what was asked. Nothing was run; its client may ask again.'],
  gone: ['No longer open', 'neutral', 'It was decided, withdrawn or has expired while this page was not connected.'],
};

/** Describes how a confirmation has ended, and by whom. */
export function outcomeText({ outcome, by, justification }: CardEnd, me: string): OutcomeText {
  const [badge, tone, text] = ENDS[outcome];
  const isDecision = outcome === 'approved' || outcome === 'rejected';
  const decider = isDecision && by !== null ? `by ${by === me ? 'you' : by}` : '';
  return { badge, tone, text, decider, reason: justification ?? '' };
}

/** Describes what an approved action has done. */
function resultText({ status, exit_code: code, restored, file, accepted_bytes: bytes }: CommandResult): string {
  if (file) return 'It was done.';
  if (restored) return `${restored.restored_count} paths restored, ${restored.removed_count} removed.`;
  if (bytes !== undefined) return 'It was typed.';
  return code === null ? `It is ${status}.` : `It has ${status} with exit code ${code}.`;
}

/** Says why a decision was not accepted, for people. */
export function refusalText(code: string, message: string): string {
  if (code === 'CONFIRMATION_MISMATCH') return `This is no longer what was asked: ${message}`;
  if (code === 'CONFIRMATION_NOT_FOUND') return `Decided too late: ${message}`;
  return message;
}

/** A decision of this page. */
interface DecisionState {
  /** The reason as it is typed. It is kept whatever becomes of the confirmation. */
  readonly reason: Signal<string>;
  /** What is being sent. */
  readonly sending: 'approve' | 'reject' | undefined;
  /** Why the last attempt was not accepted. */
  readonly problem: string | undefined;
  /** What the approved action has done. */
  readonly result: string | undefined;
  decide(decision: 'approve' | 'reject'): void;
}

/** Decides on a confirmation: for exactly what the card shows. */
export function useDecision({ confirmation_id: id, command_sha256: commandSha256 }: ConfirmationInfo): DecisionState {
  const { connection } = useDashboard();
  const reason = useDraft(`reason ${id}`);
  const state = useSignal<Pick<DecisionState, 'sending' | 'problem' | 'result'>>({
    sending: undefined,
    problem: undefined,
    result: undefined,
  });
  const send = async (decision: 'approve' | 'reject') => {
    const justification = reason.peek().trim();
    const given = { decision, commandSha256, ...(justification !== '' && { justification }) };
    state.value = { sending: decision, problem: undefined, result: undefined };
    try {
      const answer = await connection.client.confirm(id, given);
      const result = decision === 'approve' ? resultText(answer) : undefined;
      state.value = { sending: undefined, problem: undefined, result };
    } catch (error) {
      const problem = error instanceof ClientError ? refusalText(error.code, error.message) : messageOf(error);
      state.value = { sending: undefined, problem, result: undefined };
    }
  };
  const decide = (decision: 'approve' | 'reject') => {
    if (state.peek().sending === undefined) void send(decision);
  };
  return { reason, ...state.value, decide };
}

interface OutcomeProps {
  readonly end: CardEnd;
  readonly state: DecisionState;
  readonly onDismiss: () => void;
}

/** How a confirmation has ended. */
function Outcome({ end, state, onDismiss }: OutcomeProps): JSX.Element {
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

/** What decides whether a button works now. */
interface DecisionFacts {
  readonly info: ConfirmationInfo;
  readonly access: AccessInfo | undefined;
  readonly isConnected: boolean;
  /** Whether the card has been in its place for long enough. */
  readonly isSettled: boolean;
  readonly isSending: boolean;
  readonly reason: string;
}

/** A reason has a letter or digit, of any script. */
const SAYS_SOMETHING = /[\p{L}\p{N}]/u;

/** Whether this client has asked for it itself. */
const isOwn = ({ info, access }: Pick<DecisionFacts, 'info' | 'access'>): boolean => info.requested_by === access?.name;

/** Why a confirmation cannot be approved now; undefined when it can. */
export function whyNotApprove(facts: DecisionFacts): string | undefined {
  const { info, reason } = facts;
  if (!info.may_decide) return whyNotDecide(facts);
  if (info.requires === 'self' && !SAYS_SOMETHING.test(reason)) return 'Write a reason first: it is recorded.';
  return whyNotNow(facts);
}

/** Why a confirmation cannot be rejected now; undefined when it can. A client may always withdraw its own request. */
export function whyNotReject(facts: DecisionFacts): string | undefined {
  return facts.info.may_decide || isOwn(facts) ? whyNotNow(facts) : whyNotDecide(facts);
}

function whyNotNow({ isConnected, isSettled, isSending }: DecisionFacts): string | undefined {
  if (!isConnected) return 'The connection is lost.';
  if (isSending) return 'The decision is being sent.';
  return isSettled ? undefined : 'It has just come: read it first.';
}

function whyNotDecide(facts: DecisionFacts): string {
  const { info, access } = facts;
  if (info.requires === 'llm') return 'A model decides on this.';
  if (access?.is_local === true) {
    return 'Without a token of its own, this page cannot decide for an operator, because commands could: make a link with the token of an operator.';
  }
  if (isOwn(facts)) return 'Another operator has to decide: this client has asked for it itself.';
  return `The role operator or admin decides on this; you have the role ${access?.role ?? 'unknown'}.`;
}

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
