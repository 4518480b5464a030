import type { AuditEvent } from '../../core/audit/event.js';

/** Largest number of queued events while the file cannot be written. */
const MAX_EVENTS = 10_000;
/** Largest number of queued characters of commands. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** An event with its time, in milliseconds since 1970. */
export interface QueuedEvent {
  readonly time: number;
  readonly event: AuditEvent;
}

/** Events that wait to be written. Events beyond the bounds are counted, and replaced by one event with the count. */
export class AuditQueue {
  #events: QueuedEvent[] = [];
  #characters = 0;
  #lost = 0;
  #lostSince = 0;
  #lostUntil = 0;

  /** Number of queued events, including that of a gap which is not closed yet. */
  get length(): number {
    return this.#events.length + (this.#lost > 0 ? 1 : 0);
  }

  push(event: AuditEvent): void {
    const time = Date.now();
    if (this.#events.length >= MAX_EVENTS || this.#characters > MAX_CHARACTERS) {
      if (this.#lost === 0) this.#lostSince = time;
      this.#lost += 1;
      this.#lostUntil = time;
      return;
    }
    this.#closeGap();
    this.#add({ time, event });
  }

  /** Puts an event before all others. */
  unshift(event: AuditEvent): void {
    this.#events.unshift({ time: Date.now(), event });
  }

  /** Returns the first `count` events at most. */
  peek(count: number): readonly QueuedEvent[] {
    if (this.#events.length === 0) this.#closeGap();
    return this.#events.slice(0, count);
  }

  /** Removes the first `count` events. */
  drop(count: number): void {
    for (const { event } of this.#events.splice(0, count)) this.#characters -= charactersOf(event);
  }

  #closeGap(): void {
    if (this.#lost === 0) return;
    const since = new Date(this.#lostSince).toISOString();
    const until = new Date(this.#lostUntil).toISOString();
    this.#add({
      time: this.#lostUntil,
      event: { event: 'gap', details: { reason: 'lost', lost: this.#lost, since, until } },
    });
    this.#lost = 0;
  }

  #add(queued: QueuedEvent): void {
    this.#events.push(queued);
    this.#characters += charactersOf(queued.event);
  }
}

const charactersOf = ({ command = '', args = [] }: AuditEvent): number =>
  args.reduce((sum, arg) => sum + arg.length, command.length);
