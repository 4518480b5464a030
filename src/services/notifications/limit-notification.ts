import type { Notification } from '../../core/notifications/notification.js';
import type { WarnedResource } from '../../core/limits/limits.js';
import type { Breach } from '../../engine/command/resource-use.js';
import { renderBreach } from '../registry/rendered-limits.js';

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
