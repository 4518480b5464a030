import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';

import type { ConfirmationInfo } from '../../client/index.js';
import { countOf } from '../format.js';
import { type Router } from '../router.js';
import { hrefOf } from '../route.js';
import type { LiveData } from './live.js';
import type { Notices } from './dashboard.js';

const STORAGE_KEY = 'notify';

/** Whether the browser shows notifications: `off` can be switched on, `refused` only in the browser itself. */
export type NotifyState = 'on' | 'off' | 'refused' | 'unsupported';

interface AttentionOptions {
  readonly live: Pick<LiveData, 'confirmations'>;
  readonly notices: Notices;
  readonly router: Router;
}

/** Calls for attention when something has to be confirmed: for screen readers, and by notifications of the browser. */
export class Attention {
  /** Number of confirmations that this page may decide. */
  readonly waiting: ReadonlySignal<number>;
  readonly #notify: Signal<NotifyState> = signal(notifyState());
  readonly #options: AttentionOptions;
  /** Ids that were announced; undefined before the first list. */
  #known: ReadonlySet<string> | undefined;

  constructor(options: AttentionOptions) {
    this.#options = options;
    const { confirmations } = options.live;
    this.waiting = computed(() => decidable(confirmations.value).length);
    effect(() => {
      this.#onChange(decidable(confirmations.value), confirmations.value !== undefined);
    });
  }

  /** Whether notifications are shown. */
  get notify(): ReadonlySignal<NotifyState> {
    return this.#notify;
  }

  /** Switches notifications on, if the browser permits it, or off. */
  async setNotify(isWanted: boolean): Promise<void> {
    if (isWanted && Notification.permission === 'default') await Notification.requestPermission();
    localStorage.setItem(STORAGE_KEY, isWanted ? 'on' : 'off');
    this.#notify.value = notifyState();
  }

  #onChange(waiting: readonly ConfirmationInfo[], isKnown: boolean): void {
    const known = this.#known;
    this.#known = isKnown ? new Set(waiting.map(({ confirmation_id: id }) => id)) : undefined;
    const added = waiting.filter(({ confirmation_id: id }) => known?.has(id) !== true);
    const [first] = added;
    if (!first) return;
    const text = added.length === 1 ? describe(first) : `${countOf(added.length, 'confirmation')} waiting`;
    this.#options.notices.interrupt(`New: ${text}`);
    for (const info of added) this.#show(info);
  }

  /** The command is not shown: notifications are seen by others, and kept by the system. */
  #show(info: ConfirmationInfo): void {
    if (this.#notify.peek() !== 'on' || (!document.hidden && document.hasFocus())) return;
    try {
      const options = { body: `Requested by ${info.requested_by}`, tag: info.confirmation_id };
      const shown = new Notification(`Confirmation: ${info.class} ${info.kind}`, options);
      shown.addEventListener('click', () => {
        window.focus();
        this.#options.router.go(hrefOf('confirmations', [info.confirmation_id]));
      });
    } catch {
      // Some mobile browsers offer notifications to service workers only.
      this.#notify.value = 'unsupported';
    }
  }
}

const decidable = (infos: ReadonlyMap<string, ConfirmationInfo> | undefined): readonly ConfirmationInfo[] =>
  [...(infos?.values() ?? [])].filter(({ may_decide: mayDecide }) => mayDecide);

const describe = (info: ConfirmationInfo): string =>
  `a ${info.class} ${info.kind} waits for a confirmation, requested by ${info.requested_by}`;

function notifyState(): NotifyState {
  if (!('Notification' in globalThis)) return 'unsupported';
  if (Notification.permission === 'denied') return 'refused';
  const isWanted = localStorage.getItem(STORAGE_KEY) === 'on';
  return isWanted && Notification.permission === 'granted' ? 'on' : 'off';
}
