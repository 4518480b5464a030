import './confirmations.css';

import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';

import { Button } from '../../components/button.js';
import { isOnNode, NodeSelect, useNodes } from '../../components/nodes.js';
import { PageHead } from '../../components/panel.js';
import { Empty, Loading, Problem } from '../../components/states.js';
import { takesText } from '../../components/text-field.js';
import { countOf } from '../../format.js';
import type { PageProps } from '../../router.js';
import type { NotifyState } from '../../state/attention.js';
import { useDashboard } from '../../state/context.js';
import { CardStore } from './cards.js';
import { ConfirmationCard } from './confirmation-card.js';
import type { Intent } from './decision-form.js';

const DECISIONS: { readonly [key: string]: Intent['decision'] } = { a: 'approve', r: 'reject' };

/** Begins decisions by `a` and `r`, on the card with the focus, or else on the first that is open. */
function useCardKeys(store: CardStore): Signal<Intent | undefined> {
  const intent = useSignal<Intent | undefined>(undefined);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const decision = DECISIONS[event.key];
      if (decision === undefined || !isFree(event)) return;
      const id = cardFor(store);
      if (id === undefined) return;
      event.preventDefault();
      intent.value = { id, decision };
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return intent;
}

/** Whether a key press is meant for nothing else: a field, a dialog, or a chord such as `g a`. */
function isFree(event: KeyboardEvent): boolean {
  const isModified = event.ctrlKey || event.altKey || event.metaKey;
  return (
    !isModified &&
    !takesText(event.target) &&
    !event.defaultPrevented &&
    document.querySelector('dialog[open]') === null
  );
}

function cardFor(store: CardStore): string | undefined {
  const focused = document.activeElement?.closest<HTMLElement>('[data-card]')?.dataset['card'];
  const open = store.cards.peek().filter(({ info, end }) => !end && isShown(info.confirmation_id));
  return (open.find(({ info }) => info.confirmation_id === focused) ?? open[0])?.info.confirmation_id;
}

/** Whether a card is on the page: those of other nodes may be left out. */
const isShown = (id: string): boolean => document.querySelector(`[data-card="${CSS.escape(id)}"]`) !== null;

/** What waits for a confirmation. */
export function Confirmations({ segments: [id] }: PageProps): JSX.Element {
  const dashboard = useDashboard();
  const store = useMemo(() => new CardStore(dashboard), []);
  useEffect(() => () => store[Symbol.dispose](), []);
  const intent = useCardKeys(store);
  const nodes = useNodes();
  const cards = store.cards.value.filter(({ info }) => isOnNode(info, nodes?.chosen));
  // Those that stay may have another place.
  useEffect(() => store.noteMove(), [nodes?.chosen]);
  const isKnown = dashboard.live.confirmations.value !== undefined;
  const isThere = cards.some(({ info }) => info.confirmation_id === id);
  useEffect(() => {
    if (isThere) document.querySelector<HTMLElement>(`[data-card="${CSS.escape(id ?? '')}"]`)?.focus();
  }, [id, isThere]);
  const ended = cards.filter(({ end }) => end).length;
  return (
    <>
      <PageHead title="Confirmations">
        {ended > 0 ? (
          <Button onPress={() => store.dismiss()}>{`Dismiss ${countOf(ended, 'decided one', 'decided ones')}`}</Button>
        ) : null}
        <NodeSelect nodes={nodes} none="All nodes" />
        <NotifyButton />
      </PageHead>
      {isKnown && id !== undefined && !isThere ? (
        <Problem title="There is no such confirmation">It may have been decided, or have expired.</Problem>
      ) : null}
      {cards.length === 0 ? <Nothing /> : null}
      {cards.map((card) => (
        <ConfirmationCard key={card.info.confirmation_id} card={card} store={store} intent={intent} />
      ))}
    </>
  );
}

function Nothing(): JSX.Element {
  const { live } = useDashboard();
  if (!live.confirmations.value) return <Loading what="the confirmations" />;
  return (
    <div class="panel">
      <Empty title="Nothing waits for a confirmation">
        Commands that the policy has confirmed appear here at once. <a href="#/policy">Try what it says about one</a>
      </Empty>
    </div>
  );
}

const WHY_NOT_NOTIFY: { readonly [S in NotifyState]?: string } = {
  refused: 'The browser refuses notifications of this page: permit them in its settings.',
  unsupported: 'This browser has no notifications for this page.',
};

function NotifyButton(): JSX.Element {
  const { attention } = useDashboard();
  const state = attention.notify.value;
  const isOn = state === 'on';
  return (
    <Button
      isPressed={isOn}
      whyNot={WHY_NOT_NOTIFY[state]}
      title="Tells class and requester of new confirmations, never the command"
      onPress={() => void attention.setNotify(!isOn)}
    >
      {isOn ? 'Notifications on' : 'Notify me'}
    </Button>
  );
}
