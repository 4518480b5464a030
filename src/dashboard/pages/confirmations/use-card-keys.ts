import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { takesText } from '../../components/takes-text.js';
import type { CardStore } from './card-store.js';
import type { Intent } from './decision-form.js';

const DECISIONS: { readonly [key: string]: Intent['decision'] } = { a: 'approve', r: 'reject' };

/** Begins decisions by `a` and `r`, on the card with the focus, or else on the first that is open. */
export function useCardKeys(store: CardStore): Signal<Intent | undefined> {
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
