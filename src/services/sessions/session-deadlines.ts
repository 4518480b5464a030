import type { Command } from '../../engine/command/command.js';
import type { REASONS } from '../registry/session-ends.js';
import type { SessionRecord } from '../registry/session-registry.js';

/** The deadline by which a session ends. */
export type DeadlineReason = keyof typeof REASONS;

/** Bounds on the life of sessions, in milliseconds. */
export interface DeadlineLimits {
  readonly maxLifetimeMs: number;
  readonly idleTimeoutMs: number;
  readonly reconnectGraceMs: number;
  /** Longest time between two checks. */
  readonly checkIntervalMs: number;
}

/** Dependencies of `SessionDeadlines`. */
export interface DeadlineOptions {
  readonly sessions: () => readonly SessionRecord[];
  readonly limits: () => DeadlineLimits;
  readonly onDue: (record: SessionRecord, reason: DeadlineReason) => void;
}

/** Enforces the deadlines of sessions with one timer, which is set only while a session exists. */
export class SessionDeadlines implements Disposable {
  readonly #options: DeadlineOptions;
  /** Sessions past their deadline in which a command still runs. */
  readonly #overdue = new WeakSet<SessionRecord>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: DeadlineOptions) {
    this.#options = options;
  }

  /** Sets the timer to the earliest deadline. Has to be called when a deadline may have become earlier. */
  schedule(): void {
    clearTimeout(this.#timer);
    const { sessions, limits } = this.#options;
    const deadlines = sessions().map((record) => this.#deadline(record).at);
    if (deadlines.length === 0) return;
    const wait = Math.min(limits().checkIntervalMs, Math.max(0, Math.min(...deadlines) - performance.now()) + 1);
    this.#timer = setTimeout(() => {
      this.#endDue();
    }, wait).unref();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #deadline(record: SessionRecord): { at: number; reason: DeadlineReason } {
    const { maxLifetimeMs, idleTimeoutMs, reconnectGraceMs } = this.#options.limits();
    const disconnected = {
      at: (record.abandonedSince ?? Infinity) + reconnectGraceMs,
      reason: 'disconnected' as const,
    };
    if (this.#overdue.has(record)) return disconnected;
    const candidates = [
      { at: record.createdTicks + maxLifetimeMs, reason: 'lifetime' as const },
      { at: record.lastUsedTicks + idleTimeoutMs, reason: 'idle' as const },
      disconnected,
    ];
    return candidates.reduce((first, next) => (next.at < first.at ? next : first));
  }

  #endDue(): void {
    for (const record of this.#options.sessions()) {
      const { at, reason } = this.#deadline(record);
      if (at > performance.now()) continue;
      const { running } = record.session;
      if (running && reason !== 'disconnected') this.#endAfter(running, record, reason);
      else this.#options.onDue(record, reason);
    }
    this.schedule();
  }

  /** A session ends between commands; a running command has its own timeout. Queued commands end with the session. */
  #endAfter(command: Command, record: SessionRecord, reason: DeadlineReason): void {
    this.#overdue.add(record);
    command.atEnd('deadline', () => {
      this.#overdue.delete(record);
      if (reason === 'lifetime') this.#options.onDue(record, reason);
      else this.schedule();
    });
  }
}
