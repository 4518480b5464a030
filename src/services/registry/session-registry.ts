import { type AccessKind, canAccess, type Principal } from '../../core/principal.js';
import { AdapterError } from '../../core/errors.js';
import { KILLED_BY, type Limits } from '../../core/limits.js';
import { forbidden } from '../../core/protocol/permissions.js';
import type { SessionRequest } from '../../core/protocol/requests.js';
import type { EventPayload, SessionEndReason } from '../../core/protocol/results.js';
import type { SandboxProfile } from '../../core/sandbox-profiles.js';
import { spanText } from '../../core/time.js';
import type { EndReason } from '../../engine/command/outcome.js';
import type { Kill } from '../../engine/command/resource-use.js';
import type { SpoolBudget } from '../../engine/output/spool.js';
import type { Session } from '../../engine/session/session.js';
import type { SessionRecorder } from '../session-recorder.js';
import type { OutputChannel } from './output-channel.js';
import { renderKill } from './rendered-limits.js';

/** How long the end of a session is remembered, in milliseconds. */
const TOMBSTONE_MS = 24 * 60 * 60 * 1000;
/** Maximum number of remembered ends. */
const MAX_TOMBSTONES = 10_000;

/** A session with the state that services keep for it. */
export interface SessionRecord {
  readonly id: string;
  /** The principal that opened the session, and owns it. */
  readonly owner: Principal;
  readonly label: string | undefined;
  readonly session: Session;
  /** Name of its shell: `bash`, `zsh`, `sh`, `fish` or `pwsh`. */
  readonly shellName: string;
  readonly sandbox: SandboxProfile;
  /** Resource limits of everything that runs in it. */
  readonly limits: Limits;
  readonly channel: OutputChannel;
  readonly budget: SpoolBudget;
  readonly createdAt: Date;
  lastUsedAt: Date;
  /** Records it; undefined unless it is recorded. */
  readonly recorder: SessionRecorder | undefined;
  /** What keeps it open: a client that is connected to it, or its use alone. */
  readonly keepWhile: NonNullable<SessionRequest['keep_while']>;
  /** True when it belongs to a one-shot command. */
  readonly isHidden: boolean;
  /** Time since which no client is attached, on the monotonic clock; undefined while one is. */
  abandonedSince: number | undefined;
  /** Times on the monotonic clock for the deadlines, in milliseconds. */
  readonly createdTicks: number;
  lastUsedTicks: number;
}

/** The end of a session. */
interface Tombstone {
  /** Id of the principal that owned the session. */
  readonly owner: string;
  readonly reason: SessionEndReason;
  readonly detail: string;
  readonly endedAt: Date;
  readonly endedTicks: number;
}

/** The open sessions, and the ends of earlier ones. */
export class SessionRegistry {
  readonly #sessions = new Map<string, SessionRecord>();
  readonly #tombstones = new Map<string, Tombstone>();
  /** Listeners for the end of a session, by its id. */
  readonly #endings = new Map<string, Set<() => void>>();

  /** Number of open sessions, including hidden ones. */
  get size(): number {
    return this.#sessions.size;
  }

  /** Number of open sessions that clients have opened. */
  get visible(): number {
    return this.all().filter(({ isHidden }) => !isHidden).length;
  }

  /** Number of sessions in which a command runs. */
  get running(): number {
    return this.all().filter(({ session }) => session.running).length;
  }

  /** Returns all open sessions, the oldest first, including hidden ones. */
  all(): SessionRecord[] {
    return [...this.#sessions.values()];
  }

  /** Adds a session that has been opened. */
  add(record: SessionRecord): void {
    this.#sessions.set(record.id, record);
  }

  /** Sessions that a principal may see. */
  seenBy(principal: Principal): SessionRecord[] {
    return this.all().filter(({ owner }) => canAccess(principal, owner.id, 'see'));
  }

  /**
   * Returns a session that a principal may see or use. A session that it may not see does not seem to exist.
   * @throws AdapterError SESSION_NOT_FOUND, with the reason of its end if that is still known; FORBIDDEN when it may
   *   only see it
   */
  get(id: string, principal: Principal, reach: AccessKind): SessionRecord {
    const record = this.#sessions.get(id);
    if (record && canAccess(principal, record.owner.id, reach)) return record;
    if (record && reach !== 'see' && canAccess(principal, record.owner.id, 'see'))
      throw forbidden(`session ${id}`, principal, reach);
    const tombstone = record ? undefined : this.#tombstones.get(id);
    if (
      !tombstone ||
      !canAccess(principal, tombstone.owner, 'see') ||
      performance.now() - tombstone.endedTicks > TOMBSTONE_MS
    ) {
      throw new AdapterError('SESSION_NOT_FOUND', `there is no session ${id}`, { details: { session_id: id } });
    }
    const { reason, detail, endedAt, endedTicks } = tombstone;
    const ago = spanText(performance.now() - endedTicks);
    throw new AdapterError('SESSION_NOT_FOUND', `session ${id} ended ${ago} ago: ${detail}`, {
      details: { session_id: id, reason, detail, ended_at: endedAt.toISOString() },
    });
  }

  /** Returns a session regardless of its owner; undefined when it is unknown or has ended. */
  find(id: string): SessionRecord | undefined {
    return this.#sessions.get(id);
  }

  /** The remembered end of a session; undefined when there is none. */
  endOf(id: string): Tombstone | undefined {
    return this.#tombstones.get(id);
  }

  /** Calls `listener` when a session ends, before its processes do. Returns a function that takes it back. */
  onEnd(id: string, listener: () => void): () => void {
    const listeners = this.#endings.get(id) ?? new Set();
    this.#endings.set(id, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#endings.get(id) === listeners) this.#endings.delete(id);
    };
  }

  /** Removes a session and remembers why it ended; returns it, or undefined when it is unknown. */
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
    for (const listener of [...(this.#endings.get(id) ?? [])]) listener();
    return record;
  }
}

/** Bounds on the life of sessions, in milliseconds. */
export interface LifeLimits {
  readonly maxLifetimeMs: number;
  readonly idleTimeoutMs: number;
  readonly reconnectGraceMs: number;
}

/** Details for clients of a session that ends by a deadline. */
export const REASONS = {
  lifetime: ({ maxLifetimeMs }) => `it was open for ${spanText(maxLifetimeMs)} (session_max_lifetime)`,
  idle: ({ idleTimeoutMs }) => `nothing was run in it for ${spanText(idleTimeoutMs)} (session_idle_timeout)`,
  disconnected: ({ reconnectGraceMs }) =>
    `no client was connected to it for ${spanText(reconnectGraceMs)} (reconnect_grace)`,
} satisfies Partial<Record<SessionEndReason, (limits: LifeLimits) => string>>;

/** End reasons of a session's running command; by default, that a client has ended it. */
export const END_REASONS: Partial<Record<SessionEndReason, EndReason>> = {
  shutdown: { status: 'killed', killedBy: 'shutdown' },
};

/** What was ended for a limit, when that is why the session ends. */
export function killFields(
  reason: SessionEndReason,
  kill: Kill | undefined,
): Pick<EventPayload<'session_closed'>, 'killed_by' | 'limit'> {
  const isWhy = reason === 'limit' || reason === 'failed';
  return kill && isWhy ? { killed_by: KILLED_BY[kill.breach.resource], limit: renderKill(kill) } : {};
}
