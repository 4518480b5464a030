import { NOTIFICATION_OUTCOMES, type NotificationOutcome } from '../../../core/metrics/metrics.js';
import { NOTIFICATION_EVENTS, type NotificationEvent } from '../../../core/notifications/notification.js';
import { type Count, each, type Instruments } from './instruments.js';

/** Metrics of notifications to webhooks. */
export class NotificationMetrics {
  readonly #ended: Readonly<Record<NotificationEvent, Readonly<Record<NotificationOutcome, Count>>>>;

  constructor(instruments: Instruments) {
    const ended = instruments.counter(
      'notifications_total',
      'Notifications to webhooks, by event and outcome; each webhook counts.',
      ['event', 'outcome'],
    );
    this.#ended = each(NOTIFICATION_EVENTS, (event) =>
      each(NOTIFICATION_OUTCOMES, (outcome) => instruments.bind(ended, { event, outcome })),
    );
  }

  /** Counts a notification that was delivered or given up. */
  ended(event: NotificationEvent, outcome: NotificationOutcome): void {
    this.#ended[event][outcome]();
  }
}
