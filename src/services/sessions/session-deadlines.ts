import type { SessionInfo } from '../../core/protocol/results.js';
import type { Command } from '../../engine/command/command.js';
import type { LifeLimits, REASONS, SessionRecord } from '../registry/session-registry.js';

/** The deadline by which a session ends. */
export type DeadlineReason = keyof typeof REASONS;

/** Bounds on the life of sessions, in milliseconds. */
export interface DeadlineLimits extends LifeLimits {
  /** Longest time between two checks. */
  readonly checkIntervalMs: number;
}

/** When a session ends, on the monotonic clock, and why. */
export interface Deadline {
  readonly at: number;
  readonly reason: DeadlineReason;
}

/** What of a session decides when it ends. */
export type SessionTimes = Pick<SessionRecord, 'createdTicks' | 'lastUsedTicks' | 'abandonedSince' | 'keepWhile'>;

/** When a session ends if nothing happens until then: the earliest of its deadlines. */
export function deadlineOf(times: SessionTimes, limits: LifeLimits): Deadline {
  const candidates: readonly Deadline[] = [
    { at: times.createdTicks + limits.maxLifetimeMs, reason: 'lifetime' },
    { at: times.lastUsedTicks + limits.idleTimeoutMs, reason: 'idle' },
    disconnection(times, limits),
  ];
  return candidates.reduce((first, next) => (next.at < first.at ? next : first));
}

/** When a session ends, in wire format. */
export type Expiry = Pick<SessionInfo, 'expires_at' | 'expires_reason'>;

/** When a session ends if nothing happens until then. While a command runs, the session is used. */
export function expiryOf(record: SessionRecord, limits: LifeLimits): Expiry {
  const { at, reason } = deadlineOf(record, record.session.running ? { ...limits, idleTimeoutMs: Infinity } : limits);
  const endsAt = new Date(record.createdAt.getTime() + at - record.createdTicks);
  return { expires_at: endsAt.toISOString(), expires_reason: reason };
}

/** When a session ends that no client comes back to; never, if its use keeps it open. */
const disconnection = (
  { keepWhile, abandonedSince = Infinity }: SessionTimes,
  { reconnectGraceMs }: LifeLimits,
): Deadline => ({ at: keepWhile === 'used' ? Infinity : abandonedSince + reconnectGraceMs, reason: 'disconnected' });

/** Enforces the deadlines of sessions with one timer, which is set only while a session exists. */
export class SessionDeadlines implements Disposable {
  readonly #sessions: () => readonly SessionRecord[];
  readonly #limits: () => DeadlineLimits;
  readonly #onDue: (record: SessionRecord, reason: DeadlineReason) => void;
  /** Sessions past their deadline in which a command still runs. */
  readonly #overdue = new WeakSet<SessionRecord>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    sessions: () => readonly SessionRecord[],
    limits: () => DeadlineLimits,
    onDue: (record: SessionRecord, reason: DeadlineReason) => void,
  ) {
    this.#sessions = sessions;
    this.#limits = limits;
    this.#onDue = onDue;
  }

  /** Sets the timer to the earliest deadline. Has to be called when a deadline may have become earlier. */
  schedule(): void {
    clearTimeout(this.#timer);
    const deadlines = this.#sessions().map((record) => this.#deadline(record).at);
    if (deadlines.length === 0) return;
    const wait = Math.min(this.#limits().checkIntervalMs, Math.max(0, Math.min(...deadlines) - performance.now()) + 1);
    this.#timer = setTimeout(() => {
      this.#endDue();
    }, wait).unref();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #deadline(record: SessionRecord): Deadline {
    const limits = this.#limits();
    return this.#overdue.has(record) ? disconnection(record, limits) : deadlineOf(record, limits);
  }

  #endDue(): void {
    for (const record of this.#sessions()) {
      const { at, reason } = this.#deadline(record);
      if (at > performance.now()) continue;
      const { running } = record.session;
      if (running && reason !== 'disconnected') this.#endAfter(running, record, reason);
      else this.#onDue(record, reason);
    }
    this.schedule();
  }

  /** A session ends between commands; a running command has its own timeout. Queued commands end with the session. */
  #endAfter(command: Command, record: SessionRecord, reason: DeadlineReason): void {
    this.#overdue.add(record);
    command.atEnd('deadline', () => {
      this.#overdue.delete(record);
      if (reason === 'lifetime') this.#onDue(record, reason);
      else this.schedule();
    });
  }
}
