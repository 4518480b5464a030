import type { EventPayload } from '../../core/protocol/results.js';

/** Largest event, in characters or bytes: Socket.IO clients parse whole packets. */
export const MAX_EVENT_SIZE = 64 * 1024;
/** Size of an event without its data, for the replay budget. */
export const EVENT_OVERHEAD_BYTES = 200;

/** An output event before it has a number. */
export type OutputEvent = Omit<EventPayload<'command_output'>, 'seq'>;
