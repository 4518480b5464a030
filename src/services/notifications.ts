import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

import { linkSignals } from '../core/abort.js';
import type { WarnedResource } from '../core/limits.js';
import type { Log } from '../core/log.js';
import type { Metrics } from '../core/metrics.js';
import {
  isWorthRetrying,
  type Notification,
  type NotificationEvent,
  pauseBeforeRetry,
  renderBody,
} from '../core/notifications.js';
import type { Secret } from '../core/secret.js';
import type { SecretMask } from '../core/secrets.js';
import type { Breach } from '../engine/command/resource-use.js';
import { renderBreach } from './registry/rendered-limits.js';

/** Tells that a limit was exceeded, and that something was ended for it. */
export const limitNotification = (
  breach: Breach<WarnedResource>,
  place: Pick<Notification, 'sessionId' | 'commandId' | 'command'>,
): Notification => ({
  event: 'limit_exceeded',
  message: `${place.commandId === undefined ? 'processes of a session were' : 'a command was'} ended for the limit ${breach.resource}`,
  ...place,
  details: { ...renderBreach(breach) },
});

/** Most notifications that wait for one webhook; the oldest is dropped for a new one. */
const MAX_QUEUED = 256;
/** Failures and losses of a webhook are logged at most this often, in milliseconds. */
const LOG_INTERVAL_MS = 60_000;

interface WebhookSettings {
  readonly url: string;
  /** Key of the signature; undefined for none. */
  readonly secret: Secret | undefined;
  readonly events: readonly NotificationEvent[];
  readonly format: 'json' | 'slack';
  readonly timeoutMs: number;
  /** Attempts for each notification, the first included. */
  readonly attempts: number;
  readonly includeCommand: boolean;
}

/** A body for one webhook. Its id is the same in all attempts. */
interface Delivery {
  readonly id: string;
  readonly event: NotificationEvent;
  readonly body: string;
}

type Attempt =
  | { readonly isDelivered: true }
  | {
      readonly isDelivered: false;
      readonly why: string;
      readonly mayRetry: boolean;
      readonly retryAfter?: string | null;
    };

/** Delivers notifications to one URL in the background, one after another, in their order. */
export class Webhook implements AsyncDisposable {
  readonly #settings: WebhookSettings;
  readonly #hostname: string;
  readonly #metrics: Metrics;
  readonly #log: Log;
  readonly #queue: Delivery[] = [];
  /** Aborted to end attempts. */
  readonly #ending = new AbortController();
  /** Aborted to end pauses: while the webhook is being closed, nothing is retried. */
  readonly #closing = new AbortController();
  #working: Promise<void> | undefined;
  #lossesUnlogged = 0;
  #loggedAt = -Infinity;

  constructor(settings: WebhookSettings, hostname: string, metrics: Metrics, log: Log) {
    this.#settings = settings;
    this.#hostname = hostname;
    this.#metrics = metrics;
    this.#log = log;
  }

  /** Queues a notification, if the webhook wants its event. Returns at once and never throws. */
  push(notification: Notification): void {
    const { event } = notification;
    if (this.#closing.signal.aborted || !this.#settings.events.includes(event)) return;
    const facts = { id: randomUUID(), time: new Date().toISOString(), hostname: this.#hostname };
    this.#queue.push({ id: facts.id, event, body: renderBody(notification, facts, this.#settings) });
    if (this.#queue.length > MAX_QUEUED) this.#noteLoss(this.#queue.shift(), 'dropped', 'its queue is full');
    this.#working ??= this.#work();
  }

  /**
   * Delivers what is queued, without retries.
   * @param withinMs after this time the rest is dropped
   */
  async close(withinMs: number): Promise<void> {
    this.#closing.abort();
    const timer = setTimeout(() => {
      this.#ending.abort();
    }, withinMs);
    await this.#working;
    clearTimeout(timer);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close(0);
  }

  async #work(): Promise<void> {
    // The caller goes on first: it may be a command.
    await new Promise(setImmediate);
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      if (this.#ending.signal.aborted) this.#noteLoss(next, 'dropped', 'the daemon was stopped');
      else await this.#deliver(next);
    }
    this.#working = undefined;
  }

  async #deliver(delivery: Delivery): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const result = await this.#attempt(delivery);
      if (result.isDelivered) {
        this.#metrics.count('notifications_total', { event: delivery.event, outcome: 'delivered' });
        return;
      }
      const isLast = attempt >= this.#settings.attempts || this.#closing.signal.aborted;
      if (isLast || !result.mayRetry) {
        this.#noteLoss(delivery, 'failed', result.why);
        return;
      }
      await this.#pause(pauseBeforeRetry(attempt, Math.random(), result.retryAfter));
    }
  }

  async #attempt({ id, event, body }: Delivery): Promise<Attempt> {
    const { url, secret, timeoutMs } = this.#settings;
    using late = linkSignals(this.#ending.signal, AbortSignal.timeout(timeoutMs));
    const timestamp = String(Math.floor(Date.now() / 1000));
    try {
      const response = await fetch(url, {
        method: 'POST',
        body,
        redirect: 'manual',
        signal: late.signal,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'shell-adapter',
          'x-shell-adapter-event': event,
          'x-shell-adapter-delivery': id,
          'x-shell-adapter-timestamp': timestamp,
          ...(secret && { 'x-shell-adapter-signature': sign(secret.reveal(), timestamp, body) }),
        },
      });
      const { ok, status, headers } = response;
      await response.body?.cancel();
      if (ok) return { isDelivered: true };
      const why = `it answered with status ${status}`;
      return { isDelivered: false, why, mayRetry: isWorthRetrying(status), retryAfter: headers.get('retry-after') };
    } catch (error) {
      return { isDelivered: false, why: reasonOf(error, timeoutMs), mayRetry: true };
    }
  }

  async #pause(ms: number): Promise<void> {
    try {
      await sleep(ms, undefined, { signal: this.#closing.signal, ref: false });
    } catch {
      // The webhook is being closed: one attempt is left.
    }
  }

  /** Counts a notification that was not delivered, and logs losses, at most once a minute. */
  #noteLoss(delivery: Delivery | undefined, outcome: 'failed' | 'dropped', why: string): void {
    if (!delivery) return;
    this.#metrics.count('notifications_total', { event: delivery.event, outcome });
    this.#lossesUnlogged += 1;
    const now = performance.now();
    if (now - this.#loggedAt < LOG_INTERVAL_MS) return;
    // Only the host: paths of such URLs are often secrets.
    const facts = { receiver: new URL(this.#settings.url).host, why, notifications: this.#lossesUnlogged };
    this.#log.warn('a webhook has not got its notifications', facts);
    this.#loggedAt = now;
    this.#lossesUnlogged = 0;
  }
}

/** The signature of a body: `sha256=` and the HMAC of the timestamp, a dot and the body. */
const sign = (secret: string, timestamp: string, body: string): string =>
  `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;

/** Describes a failed request without its URL. */
function reasonOf(error: unknown, timeoutMs: number): string {
  const { name, cause } = error as Error;
  if (name === 'TimeoutError') return `it did not answer within ${timeoutMs} ms`;
  const { code } = (cause ?? {}) as { readonly code?: unknown };
  return `it cannot be reached (${typeof code === 'string' ? code : name})`;
}

/** Time for deliveries while the daemon is being stopped, in milliseconds. */
const CLOSE_MS = 2000;

/** Tells the webhooks of the configuration what has happened. Nothing waits for them. */
export class Notifications implements AsyncDisposable {
  readonly #hostname: string;
  readonly #metrics: Metrics;
  readonly #log: Log;
  /** Masks secrets in everything that is sent. */
  readonly #secrets: SecretMask;
  #webhooks: readonly { readonly settings: WebhookSettings; readonly webhook: Webhook }[] = [];

  constructor(hostname: string, metrics: Metrics, log: Log, secrets: SecretMask) {
    this.#hostname = hostname;
    this.#metrics = metrics;
    this.#log = log;
    this.#secrets = secrets;
  }

  /** Replaces the webhooks. Those with the same settings keep their queues; the others drop theirs. */
  configure(wanted: readonly WebhookSettings[]): void {
    const old = [...this.#webhooks];
    this.#webhooks = wanted.map((settings) => {
      const index = old.findIndex((known) => isSame(known.settings, settings));
      const [kept] = index === -1 ? [] : old.splice(index, 1);
      return kept ?? { settings, webhook: new Webhook(settings, this.#hostname, this.#metrics, this.#log) };
    });
    for (const { webhook } of old) void webhook.close(0);
  }

  /** Returns at once and never throws. */
  notify(notification: Notification): void {
    if (this.#webhooks.length === 0) return;
    const masked = this.#secrets.value(notification);
    for (const { webhook } of this.#webhooks) webhook.push(masked);
  }

  /** Delivers what is queued, for a short time. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#webhooks.map(({ webhook }) => webhook.close(CLOSE_MS)));
  }
}

const isSame = (a: WebhookSettings, b: WebhookSettings): boolean => isDeepStrictEqual(revealed(a), revealed(b));

const revealed = ({ secret, ...rest }: WebhookSettings) => ({ ...rest, secret: secret?.reveal() });
