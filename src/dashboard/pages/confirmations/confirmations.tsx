import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';

import { Button } from '../../components/button.js';
import { NodeSelect } from '../../components/nodes/node-select.js';
import { isOnNode } from '../../components/nodes/nodes.js';
import { useNodes } from '../../components/nodes/use-nodes.js';
import { PageHead } from '../../components/page-head.js';
import { Empty, Loading, Problem } from '../../components/states.js';
import { countOf } from '../../format/words.js';
import type { PageProps } from '../../router/page.js';
import type { NotifyState } from '../../state/attention.js';
import { useDashboard } from '../../state/context.js';
import { CardStore } from './card-store.js';
import { ConfirmationCard } from './confirmation-card.js';
import { useCardKeys } from './use-card-keys.js';

import './confirmations.css';

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
