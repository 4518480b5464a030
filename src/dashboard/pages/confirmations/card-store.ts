import { effect, type ReadonlySignal, signal } from '@preact/signals';

import type { Dashboard } from '../../state/dashboard.js';
import { type Card, endCard, mergeCards } from './cards.js';

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
