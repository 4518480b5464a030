import { forbidden } from '../../core/protocol/permissions.js';
import { type Principal, type AccessKind, canAccess } from '../../core/access/principal.js';
import { AdapterError } from '../../core/errors.js';
import type { SessionEndReason } from '../../core/protocol/results.js';
import type { Session } from '../../engine/session/session.js';
import type { OutputChannel } from './output-channel.js';
import type { SpoolBudget } from '../../engine/output/spool.js';

/** How long the end of a session is remembered, in milliseconds. */
const TOMBSTONE_MS = 10 * 60 * 1000;
/** Ends that are remembered at most. */
const MAX_TOMBSTONES = 10_000;

/** A session with what the services know of it. */
export interface SessionRecord {
  readonly id: string;
  /** Who opened it, and whom it belongs to. */
  readonly owner: Principal;
  readonly label: string | undefined;
  readonly session: Session;
  readonly channel: OutputChannel;
  readonly budget: SpoolBudget;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  lastUsedAt: Date;
  /** Whether it belongs to a one-shot command. */
  readonly isHidden: boolean;
  /** Since when no client is attached. */
  abandonedSince: number | undefined;
  /** Monotonic times for the limits, in milliseconds. */
  readonly createdTicks: number;
  lastUsedTicks: number;
}

/** Why a session ended. */
export interface Tombstone {
  /** Id of the principal that the session belonged to. */
  readonly owner: string;
  readonly reason: SessionEndReason;
  readonly detail: string;
  readonly endedAt: Date;
  readonly endedTicks: number;
}

/** The open sessions, and why the others have ended. */
export class SessionRegistry {
  readonly #sessions = new Map<string, SessionRecord>();
  readonly #tombstones = new Map<string, Tombstone>();

  get size(): number {
    return this.#sessions.size;
  }

  all(): SessionRecord[] {
    return [...this.#sessions.values()];
  }

  add(record: SessionRecord): void {
    this.#sessions.set(record.id, record);
  }

  /** Those that a principal may look at. */
  seenBy(principal: Principal): SessionRecord[] {
    return this.all().filter(({ owner }) => canAccess(principal, owner.id, 'see'));
  }

  /**
   * A session that a principal may look at, or use. What it may not even look at is to it as if it were not there.
   * @throws AdapterError SESSION_NOT_FOUND, saying why it ended if that is still known; FORBIDDEN when it may only look
   */
  get(id: string, principal: Principal, reach: AccessKind): SessionRecord {
    const record = this.#sessions.get(id);
    if (record && canAccess(principal, record.owner.id, reach)) return record;
    if (record && canAccess(principal, record.owner.id, 'see')) throw forbidden(`session ${id}`, principal);
    const tombstone = record ? undefined : this.#tombstones.get(id);
    if (
      !tombstone ||
      !canAccess(principal, tombstone.owner, 'see') ||
      performance.now() - tombstone.endedTicks > TOMBSTONE_MS
    ) {
      throw new AdapterError('SESSION_NOT_FOUND', `there is no session ${id}`, { details: { session_id: id } });
    }
    const { reason, detail, endedAt } = tombstone;
    throw new AdapterError('SESSION_NOT_FOUND', `session ${id} has ended: ${detail}`, {
      details: { session_id: id, reason, detail, ended_at: endedAt.toISOString() },
    });
  }

  find(id: string): SessionRecord | undefined {
    return this.#sessions.get(id);
  }

  /** Takes a session out and remembers why it ended; gives it, unless it was not there. */
  remove(id: string, reason: SessionEndReason, detail: string): SessionRecord | undefined {
    const record = this.#sessions.get(id);
    if (!record) return undefined;
    this.#sessions.delete(id);
    this.#tombstones.set(id, {
      owner: record.owner.id,
      reason,
      detail,
      endedAt: new Date(),
      endedTicks: performance.now(),
    });
    for (const [oldId, { endedTicks }] of this.#tombstones) {
      if (this.#tombstones.size <= MAX_TOMBSTONES && performance.now() - endedTicks < TOMBSTONE_MS) break;
      this.#tombstones.delete(oldId);
    }
    return record;
  }
}
