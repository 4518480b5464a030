import { isDeepStrictEqual } from 'node:util';

import type { Notification, Notifier } from '../../core/notifications/notification.js';
import type { SecretMask } from '../../core/secrets/secret-mask.js';
import { Webhook, type WebhookContext, type WebhookSettings } from './webhook.js';

/** Time for deliveries while the daemon is being stopped, in milliseconds. */
const CLOSE_MS = 2000;

/** Dependencies of `Notifications`. */
export interface NotificationsOptions extends WebhookContext {
  /** Masks secrets in everything that is sent. */
  readonly secrets: Pick<SecretMask, 'value'>;
}

/** Tells the webhooks of the configuration what has happened. Nothing waits for them. */
export class Notifications implements Notifier, AsyncDisposable {
  readonly #options: NotificationsOptions;
  #webhooks: readonly { readonly settings: WebhookSettings; readonly webhook: Webhook }[] = [];

  constructor(options: NotificationsOptions) {
    this.#options = options;
  }

  /** Replaces the webhooks. Those with the same settings keep their queues; the others drop theirs. */
  configure(wanted: readonly WebhookSettings[]): void {
    const old = [...this.#webhooks];
    this.#webhooks = wanted.map((settings) => {
      const index = old.findIndex((known) => isSame(known.settings, settings));
      const [kept] = index === -1 ? [] : old.splice(index, 1);
      return kept ?? { settings, webhook: new Webhook(settings, this.#options) };
    });
    for (const { webhook } of old) void webhook.close(0);
  }

  notify(notification: Notification): void {
    if (this.#webhooks.length === 0) return;
    const masked = this.#options.secrets.value(notification);
    for (const { webhook } of this.#webhooks) webhook.push(masked);
  }

  /** Delivers what is queued, for a short time. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#webhooks.map(({ webhook }) => webhook.close(CLOSE_MS)));
  }
}

const isSame = (a: WebhookSettings, b: WebhookSettings): boolean => isDeepStrictEqual(revealed(a), revealed(b));

const revealed = ({ secret, ...rest }: WebhookSettings) => ({ ...rest, secret: secret?.reveal() });
