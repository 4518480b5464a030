import { AdapterError } from '../core/errors.js';
import type { SessionEndReason } from '../core/protocol/results.js';
import type { Session } from '../engine/session.js';
import type { OutputChannel } from './output-channel.js';
import type { SpoolBudget } from '../engine/spool.js';

/** How long the end of a session is remembered, in milliseconds. */
const TOMBSTONE_MS = 10 * 60 * 1000;
/** Ends that are remembered at most. */
const MAX_TOMBSTONES = 10_000;

/** A session with what the services know of it. */
export interface SessionRecord {
  readonly id: string;
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

  /** @throws AdapterError SESSION_NOT_FOUND, saying why it ended if that is still known. */
  get(id: string): SessionRecord {
    const record = this.#sessions.get(id);
    if (record) return record;
    const tombstone = this.#tombstones.get(id);
    if (!tombstone || performance.now() - tombstone.endedTicks > TOMBSTONE_MS) {
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

  /** Takes a session out and remembers why it ended; false when it was not there. */
  remove(id: string, reason: SessionEndReason, detail: string): boolean {
    if (!this.#sessions.delete(id)) return false;
    this.#tombstones.set(id, { reason, detail, endedAt: new Date(), endedTicks: performance.now() });
    for (const [oldId, { endedTicks }] of this.#tombstones) {
      if (this.#tombstones.size <= MAX_TOMBSTONES && performance.now() - endedTicks < TOMBSTONE_MS) break;
      this.#tombstones.delete(oldId);
    }
    return true;
  }
}
