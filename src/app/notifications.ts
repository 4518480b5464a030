import { hostname } from 'node:os';

import { Notifications } from '../services/notifications.js';

import type { EngineContext } from './runtime-context.js';
import type { SecretMask } from '../core/secrets.js';

/** Builds the notifications to webhooks. They are closed after what they report. */
export function buildNotifications(
  { configuration, metrics, log, closers }: EngineContext,
  secrets: SecretMask,
): Notifications {
  const notifications = new Notifications({ hostname: hostname(), metrics, log: log('notify'), secrets });
  notifications.configure(configuration().notify.webhooks);
  closers.push(() => notifications[Symbol.asyncDispose]());
  return notifications;
}
