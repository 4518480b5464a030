import { effect, type ReadonlySignal, signal } from '@preact/signals';

import type { ConfirmationInfo, EventPayload } from '../../../client/index.js';
import type { Dashboard } from '../../state/dashboard.js';

/** How a confirmation has ended. */
export interface CardEnd {
  /** `gone`: it is no longer open, and this page was not told how it has ended. */
  readonly outcome: EventPayload<'confirmation_resolved'>['outcome'] | 'gone';
  readonly by: string | null;
  readonly justification: string | null;
}

/** A confirmation on the page. One that has ended stays until it is dismissed. */
export interface Card {
  readonly info: ConfirmationInfo;
  readonly end: CardEnd | undefined;
}

const GONE: CardEnd = { outcome: 'gone', by: null, justification: null };

/** Brings the cards up to date with what is open. Those that are there keep their places; new ones come last. */
export function mergeCards(cards: readonly Card[], open: ReadonlyMap<string, ConfirmationInfo>): readonly Card[] {
  const known = new Set(cards.map(({ info }) => info.confirmation_id));
  const kept = cards.map((card): Card => {
    const info = open.get(card.info.confirmation_id);
    if (info) return { info, end: undefined };
    return card.end ? card : { ...card, end: GONE };
  });
  const added = [...open.values()].filter(({ confirmation_id: id }) => !known.has(id));
  return [...kept, ...added.map((info): Card => ({ info, end: undefined }))];
}

/** Notes how a confirmation has ended. */
export const endCard = (cards: readonly Card[], event: EventPayload<'confirmation_resolved'>): readonly Card[] =>
  cards.map((card) => {
    if (card.info.confirmation_id !== event.confirmation_id) return card;
    const { outcome, decided_by: by, justification } = event;
    return { ...card, end: { outcome, by, justification } };
  });

/** The cards of the page, as long as it is shown. */
export class CardStore implements Disposable {
  readonly #cards = signal<readonly Card[]>([]);
  /** Rises when cards may have moved. */
  readonly #layout = signal(0);
  readonly #stop: (() => void)[];

  constructor({ live, connection }: Pick<Dashboard, 'live' | 'connection'>) {
    this.#stop = [
      effect(() => {
        const open = live.confirmations.value;
        if (open) this.#cards.value = mergeCards(this.#cards.peek(), open);
      }),
      connection.client.on('confirmation_resolved', (event) => {
        this.#cards.value = endCard(this.#cards.peek(), event);
      }),
    ];
  }

  /** Open confirmations, and ended ones that were not dismissed. */
  get cards(): ReadonlySignal<readonly Card[]> {
    return this.#cards;
  }

  /** Changes when cards have moved. */
  get layout(): ReadonlySignal<number> {
    return this.#layout;
  }

  /** Removes ended cards: one, or all. */
  dismiss(id?: string): void {
    this.#cards.value = this.#cards.peek().filter(({ info, end }) => {
      return !end || (id !== undefined && info.confirmation_id !== id);
    });
    this.noteMove();
  }

  /** Notes that a card may have another height, and those below it another place. */
  noteMove(): void {
    this.#layout.value = this.#layout.peek() + 1;
  }

  [Symbol.dispose](): void {
    for (const stop of this.#stop) stop();
  }
}
